/* Reads when the ops of a round ran, from their events. */
#include "train/executor/executor_state.h"

#include <math.h>

/* Reads the times of an op that has ended. False: the op did no work in that round. */
static bool read_op(const struct yk_executor *executor, int64_t round, int32_t op,
                    struct yk_op_interval *out)
{
    const struct yk_op_events *events = &executor->events[round % YK_EXECUTOR_ROUND_SLOTS][op];
    if (events->round != round || !events->works) {
        return false;
    }
    *out = (struct yk_op_interval){
        .op = op,
        .start_s = executor->backend->event_time_s(events->started),
        .end_s = executor->backend->event_time_s(events->ended),
    };
    return true;
}

double yk_executor_timeline_round_compute_s(const struct yk_executor *executor, int64_t round)
{
    double sum_s = 0;
    for (int32_t i = 0; i < executor->index->lanes.count[YK_LANE_COMPUTE]; i++) {
        struct yk_op_interval time;
        if (read_op(executor, round, executor->index->lanes.ops[YK_LANE_COMPUTE][i], &time)) {
            sum_s += time.end_s - time.start_s;
        }
    }
    return sum_s;
}

yk_status yk_executor_get_timeline(const struct yk_executor *executor, int32_t back,
                                   struct yk_op_interval *ops, struct yk_op_timeline *out)
{
    const int64_t round = executor->timed - back;
    const bool last = back == 0;
    *out = (struct yk_op_timeline){
        .program = executor->program,
        .rank = executor->rank,
        .ops = ops,
        .began_s = last ? executor->last_began_s : NAN,
        .done_s = last ? executor->last_done_s : NAN,
    };
    for (int32_t i = 0; i < executor->list->op_count && round >= 0; i++) {
        const struct yk_op_events *events = &executor->events[round % YK_EXECUTOR_ROUND_SLOTS][i];
        /* The computation of the round is done, but its messages may still be in flight. */
        if (events->round == round && events->works) {
            YK_TRY(executor->backend->event_synchronize(events->ended));
        }
        out->count += read_op(executor, round, i, &ops[out->count]) ? 1 : 0;
    }
    return YK_OK;
}

bool yk_op_timeline_is_complete(const struct yk_op_timeline *timeline)
{
    if (timeline->count != timeline->program->ranks[timeline->rank].op_count) {
        return false;
    }
    for (int32_t i = 0; i < timeline->count; i++) {
        if (timeline->ops[i].end_s < timeline->ops[i].start_s) {
            return false;
        }
    }
    return true;
}

static yk_status add_event(const struct yk_op_timeline *timeline, const struct yk_op_interval *time,
                           struct yk_text *name, struct yk_trace *trace)
{
    const struct yk_op *op = &timeline->program->ranks[timeline->rank].ops[time->op];
    name->length = 0;
    yk_op_describe(timeline->program, op, name);
    YK_TRY(yk_text_status(name));
    const struct yk_trace_event event = {
        .lane = op->lane,
        .op = yk_text_chars(name),
        .start_s = time->start_s - timeline->began_s,
        .end_s = time->end_s - timeline->began_s,
        .bytes = op->bytes,
    };
    return yk_trace_add_event(trace, &event, NULL);
}

yk_status yk_op_timeline_to_trace(const struct yk_op_timeline *timeline, struct yk_trace **out)
{
    const struct yk_program *program = timeline->program;
    const int32_t device = program->plan->ranks[timeline->rank].device;
    struct yk_trace *trace = NULL;
    struct yk_text name = {0};
    YK_TRY(yk_trace_create(&trace));
    yk_status status = yk_trace_add_rank(trace, program->cluster->devices[device].name);
    for (int32_t i = 0; i < timeline->count && status == YK_OK; i++) {
        status = add_event(timeline, &timeline->ops[i], &name, trace);
    }
    yk_text_free(&name);
    YK_TRY_OR_CLEAN_UP(status, yk_trace_destroy(trace));
    *out = trace;
    return YK_OK;
}
