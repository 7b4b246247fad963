#include "cli/train_progress.h"

#include "base/log.h"
#include "base/units.h"
#include "cli/process_memory.h"
#include "cli/terminal.h"
#include "cli/wording.h"
#include "planner/planned_facts.h"

#include <inttypes.h>
#include <math.h>

enum {
    FIRST_LINES = 10
};

/* How much a step changes what is thought to be usual. */
#define FORGETTING 0.1

/* "0:42", "3:07", "2:15:00". */
static void add_duration(double seconds, struct yk_text *out)
{
    const int64_t all = (int64_t)fmin(ceil(seconds), 1e9);
    const int64_t hours = all / 3600;
    if (hours > 0) {
        yk_text_addf(out, "%" PRId64 ":%02d:%02d", hours, (int)(all / 60 % 60), (int)(all % 60));
    } else {
        yk_text_addf(out, "%d:%02d", (int)(all / 60), (int)(all % 60));
    }
}

static void note_seconds(struct yk_train_progress *progress, double seconds)
{
    progress->usual_step_s = progress->usual_step_s > 0
                                 ? (1 - FORGETTING) * progress->usual_step_s + FORGETTING * seconds
                                 : seconds;
}

/* The rank that computes longest, and how much of the step that is. */
static void add_slowest(const struct yk_run_step *step, struct yk_text *out)
{
    int32_t slowest = 0;
    for (int32_t r = 1; r < step->ranks; r++) {
        slowest = step->compute_s[r] > step->compute_s[slowest] ? r : slowest;
    }
    if (step->ranks > 1 && step->seconds > 0 && step->compute_s[slowest] > 0) {
        yk_text_addf(out, "  slowest rank %d, computing %.0f %%", (int)slowest,
                     100 * fmin(1, step->compute_s[slowest] / step->seconds));
    }
}

static void add_speed(const struct yk_train_progress *progress, const struct yk_run_step *step,
                      struct yk_text *out)
{
    char seconds[YK_UNITS_SIZE];
    char memory[YK_UNITS_SIZE];
    yk_units_format(step->seconds, YK_UNIT_SECONDS, seconds);
    yk_units_format(yk_process_memory().now_bytes, YK_UNIT_BYTES, memory);
    yk_text_addf(out, "  %s  %.0f tokens/s", seconds, step->tokens_per_s);
    if (step->seconds > 0) {
        const double ratio = progress->planned->trial.step_s / step->seconds;
        const struct yk_mfu mfu = yk_planned_mfu_at(progress->planned, step->tokens_per_s);
        yk_text_addf(out, "  MFU %.1f %% (exact %.1f)", 100 * mfu.formula, 100 * mfu.exact);
        yk_text_addf(out, "  memory %s  predicted/measured %.2f", memory, ratio);
    }
    add_slowest(step, out);
}

static void write_line(const struct yk_train_progress *progress, const struct yk_run_step *step,
                       struct yk_text *out)
{
    /* Neither is ever less than 0; what is no number may have a sign nonetheless. */
    yk_text_addf(out, "step %" PRId64 "/%" PRId64 "  loss %.4f  norm %.3f  rate %.2e", step->step,
                 step->steps, fabs(step->loss), fabs(step->norm), step->rate);
    yk_text_add(out, step->skipped ? "  skipped" : "");
    if (step->skipped && progress->scaled) {
        yk_text_addf(out, ", loss scale %g", step->loss_scale);
    }
    yk_text_add(out, "  left ");
    add_duration((double)(step->steps - step->step) * progress->usual_step_s, out);
    add_speed(progress, step, out);
}

static void on_step(void *user, const struct yk_run_step *step)
{
    struct yk_train_progress *progress = user;
    const bool keep = step->step - progress->first_step <= FIRST_LINES ||
                      step->step % progress->log_every == 0 || step->step == step->steps ||
                      step->skipped;
    note_seconds(progress, step->seconds);
    progress->line.length = 0;
    write_line(progress, step, &progress->line);
    yk_terminal_line(yk_text_chars(&progress->line), keep);
}

static void on_evaluated(void *user, int64_t step, double loss, int64_t tokens)
{
    struct yk_train_progress *progress = user;
    progress->line.length = 0;
    yk_text_addf(&progress->line, "step %" PRId64 ": evaluation loss %.4f, perplexity ", step,
                 fabs(loss));
    yk_wording_add_perplexity(fabs(loss), 2, &progress->line);
    yk_text_addf(&progress->line, ", over %" PRId64 " token%s", tokens, yk_wording_plural(tokens));
    yk_terminal_line(yk_text_chars(&progress->line), true);
}

static void on_saved(void *user, int64_t step, const char *path, const char *fault)
{
    struct yk_train_progress *progress = user;
    if (fault && !yk_terminal_speaks_for_all()) {
        return;
    }
    if (fault) {
        yk_log(YK_LOG_WARNING, "step %" PRId64 ": no checkpoint was written: %s", step, fault);
        return;
    }
    progress->checkpoint.length = 0;
    yk_text_add(&progress->checkpoint, path);
    progress->line.length = 0;
    yk_text_addf(&progress->line, "step %" PRId64 ": saved %s", step, path);
    yk_terminal_line(yk_text_chars(&progress->line), true);
}

static const struct yk_program *on_change(void *user, const struct yk_run_step *step)
{
    struct yk_train_progress *progress = user;
    return progress->balance ? yk_train_balance_look(progress->balance, step) : NULL;
}

static void on_changed(void *user, int64_t step)
{
    struct yk_train_progress *progress = user;
    yk_train_balance_change(progress->balance, step);
    progress->planned = yk_train_balance_plan(progress->balance);
}

static void on_timed(void *user, const struct yk_round_times *times)
{
    const struct yk_train_progress *progress = user;
    yk_gauge_step(progress->gauge, times);
}

static bool on_stop(void *user)
{
    const struct yk_train_progress *progress = user;
    return atomic_load(progress->stop);
}

struct yk_run_watch yk_train_progress_watch(struct yk_train_progress *progress)
{
    return (struct yk_run_watch){
        .user = progress,
        .step = on_step,
        .evaluated = on_evaluated,
        .saved = on_saved,
        .stop = on_stop,
        .change = on_change,
        .changed = on_changed,
        .timed = progress->gauge ? on_timed : NULL,
    };
}

void yk_train_progress_free(struct yk_train_progress *progress)
{
    yk_text_free(&progress->line);
    yk_text_free(&progress->checkpoint);
}
