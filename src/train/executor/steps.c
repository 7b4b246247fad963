/* Begins steps, reads their results, and finishes a sequence of steps. */
#include "base/clock.h"
#include "train/executor/executor_state.h"

#include <math.h>

static yk_status check(const struct yk_executor *executor)
{
    return executor->options.ranks
               ? executor->options.ranks->comm->check(executor->options.ranks->world)
               : YK_OK;
}

static void open_slot(struct yk_executor *executor, int64_t number,
                      const struct yk_step_options *step, bool evaluating)
{
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, number);
    slot->step = *step;
    slot->evaluating = evaluating;
}

/* Enqueues the round of a step. Before the first step of a sequence, it enqueues the ops of that
 * step that belong to the previous round. */
static void enqueue_step(struct yk_executor *executor, int64_t number)
{
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, number);
    struct yk_backend_lane *lane = executor->lanes[YK_LANE_COMPUTE];
    slot->began_s = NAN;
    if (executor->sequence_step < 0) {
        slot->began_s = yk_clock_now_s();
        executor->sequence_step = number;
        yk_executor_enqueue_round(executor, number - 1, number, number);
    }
    executor->backend->clear(lane, slot->report,
                             (size_t)executor->report_count * sizeof *slot->report);
    slot->round = executor->rounds;
    yk_executor_enqueue_round(executor, number, executor->sequence_step,
                              slot->evaluating ? number : number + 1);
    executor->backend->event_record(lane, slot->done);
}

yk_status yk_executor_begin_step(struct yk_executor *executor, const struct yk_step_options *step,
                                 const struct yk_rank_batch *next)
{
    const int64_t number = executor->begun;
    if (step->clip > 0 && !executor->barrier) {
        return yk_fail(YK_ERROR_INPUT, "the plan was made without clipping; plan with --clip");
    }
    YK_TRY(yk_device_batches_check_batch_fits(&executor->batches, step->batch));
    YK_TRY(yk_device_batches_check_batch_fits(&executor->batches, next));
    YK_TRY(check(executor));
    open_slot(executor, number, step, false);
    open_slot(executor, number + 1, &(struct yk_step_options){.batch = next, .loss_scale = 1},
              false);
    executor->begun++;
    enqueue_step(executor, number);
    if (executor->late_updates && number > executor->sequence_step) {
        yk_executor_enqueue_step_report(executor, number - 1);
    } else if (!executor->late_updates && !executor->barrier) {
        yk_executor_enqueue_step_report(executor, number);
    }
    return YK_OK;
}

yk_status yk_executor_get_last_step_skipped(struct yk_executor *executor, bool *skipped)
{
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, executor->begun - 1);
    *skipped = false;
    if (executor->barrier) {
        YK_TRY(executor->backend->event_synchronize(slot->reported));
        YK_TRY(check(executor));
        *skipped = slot->gradient_norm_read->skip != 0;
    }
    return YK_OK;
}

yk_status yk_executor_end_step(struct yk_executor *executor, struct yk_step_result *out)
{
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, executor->ended);
    YK_TRY(executor->backend->event_synchronize(slot->reported));
    YK_TRY(executor->backend->event_synchronize(slot->done));
    YK_TRY(check(executor));
    const double done_s = executor->backend->event_time_s(slot->done);
    const double began_s = isnan(slot->began_s) ? executor->last_done_s : slot->began_s;
    *out = (struct yk_step_result){
        .loss = slot->read[YK_STEP_REPORT_LOSS] / (double)slot->step.batch->loss_targets,
        .norm = slot->gradient_norm_read->norm,
        .skipped = executor->barrier && slot->gradient_norm_read->skip != 0,
        .stopped = executor->ranks > 1 ? slot->read[YK_STEP_REPORT_STOP] > 0
                                       : atomic_load(&executor->stop),
        .seconds = done_s - began_s,
        .compute_s = slot->read + YK_STEP_REPORT_GRADIENT_SQUARES + executor->facts->L,
    };
    if (executor->ranks > 1) {
        atomic_store(&executor->computed_s,
                     yk_executor_timeline_round_compute_s(executor, slot->round));
    }
    executor->last_done_s = done_s;
    executor->last_began_s = began_s;
    executor->timed = slot->round;
    executor->ended++;
    return YK_OK;
}

/* Waits for all lanes and reports that they are idle. */
static yk_status finish_lanes(struct yk_executor *executor)
{
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        YK_TRY(executor->backend->lane_synchronize(executor->lanes[i]));
    }
    for (int i = 0; i < YK_LANE_COUNT && executor->options.op_began && !executor->is_accelerator;
         i++) {
        executor->options.op_began(executor->options.user, (enum yk_lane)i, YK_OP_NONE);
    }
    return check(executor);
}

yk_status yk_executor_finish_steps(struct yk_executor *executor)
{
    if (executor->sequence_step < 0) {
        return YK_OK;
    }
    const int64_t last = executor->begun - 1;
    yk_executor_enqueue_round(executor, last + 1, last, last);
    if (executor->late_updates) {
        yk_executor_enqueue_step_report(executor, last);
    }
    executor->sequence_step = -1;
    return finish_lanes(executor);
}

yk_status yk_executor_evaluate_batch_step(struct yk_executor *executor,
                                          const struct yk_rank_batch *batch,
                                          struct yk_loss_sums *out)
{
    const int64_t number = executor->begun;
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, number);
    YK_TRY(yk_device_batches_check_batch_fits(&executor->batches, batch));
    open_slot(executor, number, &(struct yk_step_options){.batch = batch, .loss_scale = 1}, true);
    executor->begun++;
    executor->ended++;
    enqueue_step(executor, number);
    yk_executor_enqueue_step_report(executor, number);
    executor->sequence_step = -1;
    YK_TRY(finish_lanes(executor));
    *out = (struct yk_loss_sums){
        .loss = slot->read[YK_STEP_REPORT_LOSS],
        .hits = {slot->read[YK_STEP_REPORT_HITS], slot->read[YK_STEP_REPORT_HITS + 1]},
    };
    return YK_OK;
}
