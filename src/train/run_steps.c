#include "train/run_steps.h"

#include "base/log.h"
#include "train/run_agree.h"
#include "train/run_numbers.h"

#include <math.h>
#include <stdlib.h>

enum {
    MEMORY_NOTED = 16, /* of so many steps, once */
};

static yk_status create_times(struct yk_run_steps *steps)
{
    const struct yk_vector_span_array *run = steps->run;
    const size_t ops = (size_t)run->program->ranks[yk_run_own_rank(run)].op_count;
    free(steps->times);
    steps->times = calloc(ops + 1, sizeof *steps->times);
    return steps->times ? YK_OK : yk_fail_out_of_memory();
}

static yk_status create_batches(struct yk_run_steps *steps)
{
    const struct yk_vector_span_array *run = steps->run;
    const struct yk_plan *plan = run->program->plan;
    struct yk_batch_share *shares = calloc((size_t)plan->micro_batches, sizeof *shares);
    if (!shares) {
        return yk_fail_out_of_memory();
    }
    yk_batches_find_shares(plan, yk_run_own_rank(run), shares);
    const yk_status status = yk_batches_create(run->samples, &run->store->engine,
                                               plan->micro_batches, shares, &steps->batches);
    free(shares);
    return status;
}

/* Times of another program's ops go. */
static yk_status begin_log(struct yk_vector_span_array *run)
{
    yk_round_log_destroy(run->log);
    run->log = NULL;
    return yk_round_log_create(run->program->ranks[yk_run_own_rank(run)].op_count, &run->log);
}

static yk_status create_executor(struct yk_run_steps *steps)
{
    const struct yk_vector_span_array *run = steps->run;
    return yk_executor_create(run->program, run->store, &run->options.optimizer, &run->executor,
                              &steps->executor);
}

yk_status yk_run_steps_open(struct yk_vector_span_array *run, struct yk_run_steps *out)
{
    const int64_t left = run->options.steps - run->state.step;
    *out = (struct yk_run_steps){.run = run};
    out->seconds = calloc((size_t)(left > 0 ? left : 0) + 1, sizeof *out->seconds);
    if (!out->seconds) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(begin_log(run));
    YK_TRY(yk_run_steps_agree(run, create_executor(out)));
    YK_TRY(create_batches(out));
    return create_times(out);
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double find_median(double *seconds, int64_t count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

void yk_run_steps_close(struct yk_run_steps *steps)
{
    if (steps->count > 0) {
        steps->run->median_step_s = find_median(steps->seconds, steps->count);
    }
    yk_metrics_close(steps->metrics);
    yk_batches_destroy(steps->batches);
    yk_executor_destroy(steps->executor);
    free(steps->times);
    free(steps->seconds);
}

static yk_status next_batch(struct yk_run_steps *steps, const struct yk_batch **out)
{
    YK_TRY(yk_batches_next(steps->batches, steps->next_unit, INT64_MAX, out));
    steps->next_unit += (*out)->units;
    return YK_OK;
}

yk_status yk_run_steps_prepare(struct yk_run_steps *steps)
{
    steps->next_unit = steps->run->state.samples;
    YK_TRY(next_batch(steps, &steps->now));
    return next_batch(steps, &steps->next);
}

void yk_run_steps_note_metrics(struct yk_run_steps *steps, yk_status written)
{
    if (written != YK_OK) {
        yk_log(YK_LOG_WARNING, "step %lld: %s; the metrics end here",
               (long long)steps->run->state.step, yk_status_message());
        yk_metrics_close(steps->metrics);
        steps->metrics = NULL;
    }
}

yk_status yk_run_steps_change(struct yk_run_steps *steps)
{
    struct yk_vector_span_array *run = steps->run;
    yk_executor_destroy(steps->executor);
    yk_batches_destroy(steps->batches);
    steps->executor = NULL;
    steps->batches = NULL;
    run->program = steps->change;
    steps->change = NULL;
    if (run->callbacks.changed) {
        run->callbacks.changed(run->callbacks.user, run->state.step);
    }
    if (steps->metrics) {
        yk_run_steps_note_metrics(
            steps, yk_metrics_write_shares(steps->metrics, run->state.step, run->program->plan));
    }
    YK_TRY(yk_run_steps_agree(run, begin_log(run)));
    YK_TRY(yk_run_steps_agree(run, create_executor(steps)));
    YK_TRY(yk_run_steps_agree(run, create_batches(steps)));
    YK_TRY(yk_run_steps_agree(run, create_times(steps)));
    return yk_run_steps_prepare(steps);
}

static void report_step(struct yk_run_steps *steps, const struct yk_step_result *result,
                        const struct yk_run_pending *pending)
{
    struct yk_vector_span_array *run = steps->run;
    const struct yk_run_step line = {
        .step = run->state.step,
        .steps = run->options.steps,
        .loss = result->loss,
        .norm = result->norm,
        .rate = pending->rate,
        .seconds = result->seconds,
        .tokens_per_s = (double)pending->present / result->seconds,
        .loss_scale = pending->scale,
        .skipped = result->skipped,
        .compute_s = result->compute_s,
        .ranks = run->program->rank_count,
    };
    run->first_loss = steps->count == 0 ? result->loss : run->first_loss;
    run->last_loss = result->loss;
    run->tokens += (double)pending->present;
    run->seconds += result->seconds;
    steps->seconds[steps->count++] = result->seconds;
    if (run->callbacks.step) {
        run->callbacks.step(run->callbacks.user, &line);
    }
    if (run->callbacks.change) {
        const struct yk_program *change = run->callbacks.change(run->callbacks.user, &line);
        steps->change = change ? change : steps->change;
    }
    if (steps->metrics) {
        yk_run_steps_note_metrics(steps, yk_metrics_write_step(steps->metrics, &line));
    }
}

yk_status yk_run_steps_begin(struct yk_run_steps *steps)
{
    struct yk_vector_span_array *run = steps->run;
    const int64_t number = run->state.step + steps->pending_count;
    const struct yk_step step = {
        .batch = steps->now,
        .rate = yk_lr_schedule_at(&run->options.lr_schedule, number),
        .updates = run->state.updates,
        .loss_scale = run->state.scaler.scale,
        .clip = run->options.clip,
    };
    bool skipped = false;
    YK_TRY(yk_executor_begin_step(steps->executor, &step, steps->next));
    steps->pending[steps->pending_count++] =
        (struct yk_run_pending){step.rate, step.loss_scale, step.batch->present};
    run->state.samples += step.batch->units;
    steps->now = steps->next;
    YK_TRY(next_batch(steps, &steps->next));
    YK_TRY(yk_executor_step_verdict(steps->executor, &skipped));
    yk_loss_scaler_update(&run->state.scaler, run->store->net->workload.precision, skipped);
    run->state.updates += skipped ? 0 : 1;
    return YK_OK;
}

/* All is taken by the end of the first steps; asking takes the driver a while. */
static void note_memory(struct yk_vector_span_array *run)
{
    const struct yk_engine *engine = &run->store->engine;
    if (engine->backend->used_bytes && run->state.step % MEMORY_NOTED == 1) {
        run->device_bytes =
            fmax(run->device_bytes, (double)engine->backend->used_bytes(engine->device));
    }
}

static yk_status report_times(const struct yk_run_steps *steps)
{
    const struct yk_run_callbacks *callbacks = &steps->run->callbacks;
    struct yk_round_times times;
    if (callbacks->timed) {
        YK_TRY(yk_executor_times(steps->executor, 0, steps->times, &times));
        callbacks->timed(callbacks->user, &times);
    }
    return YK_OK;
}

yk_status yk_run_steps_end(struct yk_run_steps *steps)
{
    struct yk_vector_span_array *run = steps->run;
    struct yk_step_result result = {0};
    YK_TRY(yk_executor_end_step(steps->executor, &result));
    YK_TRY(report_times(steps));
    const struct yk_run_pending ended = steps->pending[0];
    steps->pending_count--;
    for (int32_t i = 0; i < steps->pending_count; i++) {
        steps->pending[i] = steps->pending[i + 1];
    }
    run->state.step++;
    YK_TRY(yk_round_log_add(run->log, steps->executor, run->state.step));
    note_memory(run);
    steps->stopped = steps->stopped || result.stopped;
    report_step(steps, &result, &ended);
    return yk_run_steps_check_result(run, steps->executor, &result);
}

yk_status yk_run_steps_end_all(struct yk_run_steps *steps)
{
    YK_TRY(yk_executor_finish_steps(steps->executor));
    while (steps->pending_count > 0) {
        YK_TRY(yk_run_steps_end(steps));
    }
    return YK_OK;
}
