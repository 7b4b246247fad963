#include "job/training/train.h"

#include "cli/commands/launch.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/counters.h"
#include "job/outputs.h"
#include "job/training/balance.h"
#include "job/training/progress.h"
#include "job/training/results.h"
#include "job/training/setup.h"
#include "job/training/spent.h"
#include "job/training/summary.h"
#include "planner/planned_facts.h"

#include <inttypes.h>
#include <math.h>

/* How long an op may take before its rank is taken for lost: so many times the predicted step. */
#define LEAST_HANG_S 30.0
#define HANG_FACTOR 5.0

static yk_status check(const struct yk_train_words *words)
{
    if (!isnan(words->lora_alpha) && words->lora_rank == 0 && !words->adapter) {
        return yk_fail(YK_ERROR_USAGE, "--lora-alpha scales adapters; add them with --lora 8");
    }
    if (words->shuffle > 0 && words->rebalance) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rebalance goes on by the order of a plan, which --shuffle "
                       "is to do without; leave one of them out");
    }
    const struct yk_rate rate = yk_train_rate(words, 1);
    if (rate.least > rate.most) {
        return yk_fail(YK_ERROR_USAGE, "--least-rate %g is more than --rate, which is %g",
                       rate.least, rate.most);
    }
    return YK_OK;
}

static yk_status fail_stopped(const struct yk_training *training)
{
    const struct yk_run *run = &training->run;
    return yk_fail(YK_ERROR_STOPPED,
                   "stopped after step %" PRId64 " of %" PRId64
                   " and saved; go on with: yoke train --resume --out %s",
                   run->state.step, run->settings.steps, training->folder);
}

/* Stopped or done, what was measured is kept, by rank 0. */
static yk_status finish(struct yk_training *training, const struct yk_train_progress *progress,
                        yk_status trained, struct yk_text *out)
{
    yk_status status = yk_train_collect_results(training);
    if (status == YK_OK) {
        status = yk_train_collect_spent(training);
    }
    if (status == YK_OK && yk_train_team_rank(&training->team) == 0) {
        struct yk_outputs outputs = {0};
        status = trained == YK_OK ? yk_train_summarise(training, progress, out) : YK_OK;
        yk_outputs_made(&outputs, yk_train_write_results(training, progress));
        yk_outputs_made(&outputs, yk_train_write_page(training));
        if (status == YK_OK) {
            status = yk_terminal_print_despite(yk_outputs_write(&outputs), out);
        }
        yk_outputs_free(&outputs);
    }
    YK_TRY(yk_train_team_agree(&training->team, status));
    return trained == YK_OK ? YK_OK : fail_stopped(training);
}

/* Where it is gauged, the meters are read meanwhile. */
static yk_status run_gauged(struct yk_training *training)
{
    if (!training->gauge) {
        return yk_run_train(&training->run);
    }
    YK_TRY(yk_gauge_start(training->gauge));
    const yk_status status = yk_run_train(&training->run);
    yk_gauge_stop(training->gauge);
    return status;
}

static yk_status train(struct yk_training *training, struct yk_text *out)
{
    const struct yk_planned *planned = training->plan.planned;
    struct yk_train_team *team = &training->team;
    if (!planned->plan) {
        return yk_planned_fail_unfound(planned);
    }
    YK_TRY(yk_train_announce(training));
    YK_TRY(yk_train_team_connect(team, &training->plan.device, training->words.wire));
    YK_TRY(yk_train_team_announce(team, training->arena));
    if (training->words.counters) {
        YK_TRY(
            yk_train_team_agree(team, yk_counters_open(&training->plan.device, &training->gauge)));
    }
    YK_TRY(yk_training_prepare(training));
    YK_TRY(yk_train_team_watch(team, planned->trial.program,
                               fmax(LEAST_HANG_S, HANG_FACTOR * planned->trial.step_s)));
    struct yk_train_balance balance = {
        .request = &training->plan.request,
        .planned = planned,
        .arena = training->arena,
        .changes = training->words.rebalance,
    };
    YK_TRY(yk_train_balance_open(&balance));
    YK_TRY(yk_train_team_follow(team, balance.planned_s, planned->plan->rank_count));
    training->balance = yk_train_team_is_alone(team) ? NULL : &balance;
    struct yk_train_progress progress = {
        .balance = yk_train_team_is_alone(team) ? NULL : &balance,
        .gauge = training->gauge,
        .first_step = training->run.state.step,
        .log_every = training->words.log_every,
        .planned = planned,
        .scaled = planned->plan->workload.precision == YK_PRECISION_FP16,
        .stop = yk_interrupt_watch_termination(),
    };
    training->run.watch = yk_train_progress_watch(&progress);
    yk_status status = run_gauged(training);
    yk_terminal_progress_end();
    if (status == YK_OK || status == YK_ERROR_STOPPED) {
        status = finish(training, &progress, status, out);
    } else if (training->run.agreed) {
        status = yk_train_team_say(team, status);
    } else {
        yk_train_team_give_up(team, status);
    }
    training->run.program = planned->trial.program;
    training->balance = NULL;
    yk_train_balance_close(&balance);
    yk_train_progress_free(&progress);
    return status;
}

yk_status yk_train_run(const void *given, struct yk_text *out)
{
    struct yk_training training = {.words = *(const struct yk_train_words *)given};
    struct yk_launcher launcher;
    bool launches = false;
    training.words.job = yk_terminal_job_unwatched();
    YK_TRY(check(&training.words));
    YK_TRY(
        yk_command_launch_find(&training.words.hand, training.words.ranks, &launcher, &launches));
    if (launches && !training.words.dry_run) {
        return yk_command_launch(training.words.ranks);
    }
    yk_status status = yk_training_open(&training, &launcher);
    if (status == YK_OK) {
        status = training.words.dry_run ? yk_train_forecast(&training, out) : train(&training, out);
    }
    yk_training_close(&training);
    return status;
}
