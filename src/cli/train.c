#include "cli/train.h"

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/train_progress.h"
#include "cli/train_setup.h"
#include "cli/train_summary.h"
#include "planner/planned_facts.h"

#include <inttypes.h>
#include <math.h>

static yk_status check(const struct yk_train_words *words)
{
    if (!isnan(words->lora_alpha) && words->lora_rank == 0 && !words->adapter) {
        return yk_fail(YK_ERROR_USAGE, "--lora-alpha scales adapters; add them with --lora 8");
    }
    const struct yk_rate rate = yk_train_rate(words, 1);
    if (rate.least > rate.most) {
        return yk_fail(YK_ERROR_USAGE, "--least-rate %g is more than --rate, which is %g",
                       rate.least, rate.most);
    }
    return YK_OK;
}

/* Stopped or done, what was measured is kept. */
static yk_status finish(const struct yk_training *training,
                        const struct yk_train_progress *progress, yk_status trained,
                        struct yk_text *out)
{
    const struct yk_run *run = &training->run;
    if (trained != YK_OK && trained != YK_ERROR_STOPPED) {
        return trained;
    }
    YK_TRY(yk_train_write_results(training, progress));
    if (trained == YK_OK) {
        return yk_train_summarise(training, progress, out);
    }
    return yk_fail(YK_ERROR_STOPPED,
                   "stopped after step %" PRId64 " of %" PRId64
                   " and saved; go on with: yoke train --resume --out %s",
                   run->state.step, run->settings.steps, training->folder);
}

static yk_status train(struct yk_training *training, struct yk_text *out)
{
    const struct yk_planned *planned = training->plan.planned;
    if (!planned->plan) {
        return yk_planned_fail_unfound(planned);
    }
    YK_TRY(yk_train_announce(training));
    YK_TRY(yk_training_prepare(training));
    struct yk_train_progress progress = {
        .first_step = training->run.state.step,
        .log_every = training->words.log_every,
        .predicted_step_s = planned->trial.step_s,
        .predicted_mfu = yk_planned_mfu(planned),
        .scaled = planned->plan->workload.precision == YK_PRECISION_FP16,
        .stop = yk_interrupt_watch_termination(),
    };
    training->run.watch = yk_train_progress_watch(&progress);
    yk_status status = yk_run_train(&training->run);
    yk_terminal_progress_end();
    status = finish(training, &progress, status, out);
    yk_train_progress_free(&progress);
    return status;
}

yk_status yk_train_run(const void *given, struct yk_text *out)
{
    struct yk_training training = {.words = *(const struct yk_train_words *)given};
    if (training.words.quiet) {
        yk_terminal_be_quiet();
    }
    YK_TRY(check(&training.words));
    yk_status status = yk_training_open(&training);
    if (status == YK_OK) {
        status = training.words.dry_run ? yk_train_forecast(&training, out) : train(&training, out);
    }
    yk_training_close(&training);
    return status;
}
