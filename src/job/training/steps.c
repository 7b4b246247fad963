#include "job/training/steps.h"

#include "base/log.h"
#include "base/system.h"
#include "planner/planner.h"

#include <inttypes.h>
#include <math.h>

/* How much a step changes what is thought to be usual. */
#define FORGETTING 0.1

/* The callbacks, where this rank is the one to make them. */
static const struct yk_train_progress *progress_of(const struct yk_train_steps *steps)
{
    static const struct yk_train_progress none;
    const struct yk_train_progress *progress = steps->request->progress;
    return steps->reports && progress ? progress : &none;
}

static void note_seconds(struct yk_train_steps *steps, double seconds)
{
    steps->usual_step_s = steps->usual_step_s > 0
                              ? (1 - FORGETTING) * steps->usual_step_s + FORGETTING * seconds
                              : seconds;
}

/* The rank that computes longest, and how much of the step that is. */
static void find_slowest(const struct yk_run_step *step, struct yk_train_step *out)
{
    int32_t slowest = 0;
    for (int32_t r = 1; r < step->ranks; r++) {
        slowest = step->compute_s[r] > step->compute_s[slowest] ? r : slowest;
    }
    out->slowest = -1;
    if (step->ranks > 1 && step->seconds > 0 && step->compute_s[slowest] > 0) {
        out->slowest = slowest;
        out->slowest_part = fmin(1, step->compute_s[slowest] / step->seconds);
    }
}

static void on_step(void *user, const struct yk_run_step *step)
{
    struct yk_train_steps *steps = user;
    const struct yk_train_progress *progress = progress_of(steps);
    const struct yk_planner_outcome *planned = steps->planned;
    note_seconds(steps, step->seconds);
    if (!progress->step) {
        return;
    }
    const struct yk_mfu mfu = yk_planner_mfu_at(planned, step->tokens_per_s);
    struct yk_train_step report = {
        .step = step->step,
        .steps = step->steps,
        .loss = step->loss,
        .norm = step->norm,
        .rate = step->rate,
        .loss_scale = step->loss_scale,
        .scaled = planned->plan->workload.precision == YK_PRECISION_FP16,
        .skipped = step->skipped,
        .seconds = step->seconds,
        .tokens_per_s = step->tokens_per_s,
        .mfu = mfu.formula,
        .exact_mfu = mfu.exact,
        .memory_bytes = yk_system_process_memory().now_bytes,
        .predicted_s = planned->trial.step_s,
        .left_s = (double)(step->steps - step->step) * steps->usual_step_s,
    };
    find_slowest(step, &report);
    progress->step(progress->user, &report);
}

static void on_evaluated(void *user, int64_t step, double loss, int64_t tokens)
{
    const struct yk_train_progress *progress = progress_of(user);
    if (progress->evaluation) {
        progress->evaluation(progress->user, &(struct yk_train_evaluation){step, loss, tokens});
    }
}

static void on_saved(void *user, int64_t step, const char *path, const char *fault)
{
    struct yk_train_steps *steps = user;
    const struct yk_train_progress *progress = progress_of(steps);
    if (fault) {
        if (steps->reports) {
            yk_log(YK_LOG_WARNING, "step %" PRId64 ": no checkpoint was written: %s", step, fault);
        }
        return;
    }
    steps->checkpoint.length = 0;
    yk_text_add(&steps->checkpoint, path);
    if (progress->checkpoint) {
        progress->checkpoint(progress->user, &(struct yk_train_checkpoint){step, path});
    }
}

static const struct yk_program *on_change(void *user, const struct yk_run_step *step)
{
    const struct yk_train_steps *steps = user;
    return steps->balance ? yk_train_balance_check(steps->balance, step) : NULL;
}

static void on_changed(void *user, int64_t step)
{
    struct yk_train_steps *steps = user;
    yk_train_balance_apply(steps->balance, step);
    steps->planned = yk_train_balance_plan(steps->balance);
}

static void on_timed(void *user, const struct yk_round_times *times)
{
    const struct yk_train_steps *steps = user;
    yk_counter_recorder_add_step(steps->gauge, times);
}

static bool on_stop(void *user)
{
    const struct yk_train_steps *steps = user;
    return yk_job_is_stopped(steps->request->job);
}

struct yk_run_callbacks yk_train_steps_watch(struct yk_train_steps *steps)
{
    return (struct yk_run_callbacks){
        .user = steps,
        .step = on_step,
        .evaluated = on_evaluated,
        .saved = on_saved,
        .stop = on_stop,
        .change = on_change,
        .changed = on_changed,
        .timed = steps->gauge ? on_timed : NULL,
    };
}

void yk_train_steps_free(struct yk_train_steps *steps)
{
    yk_text_free(&steps->checkpoint);
}
