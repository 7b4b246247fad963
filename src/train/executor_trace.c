/* The step that ended last as a trace. */
#include "train/executor_rules.h"

static yk_status add_event(const struct yk_executor *executor, int32_t number, double zero_s,
                           struct yk_text *name, struct yk_trace *trace)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_op_events *events =
        &executor->events[executor->traced % YK_EXECUTOR_ROUNDS][number];
    if (events->round != executor->traced || !events->works) {
        return YK_OK;
    }
    name->length = 0;
    yk_op_describe(executor->program, op, name);
    YK_TRY(yk_text_status(name));
    const struct yk_trace_event event = {
        .lane = op->lane,
        .op = yk_text_chars(name),
        .start_s = executor->backend->event_s(events->started) - zero_s,
        .end_s = executor->backend->event_s(events->ended) - zero_s,
        .bytes = op->bytes,
    };
    return yk_trace_add_event(trace, &event, NULL);
}

double yk_executor_round_s(const struct yk_executor *executor)
{
    return executor->last_began_s;
}

yk_status yk_executor_trace(const struct yk_executor *executor, const char *device,
                            struct yk_trace **out)
{
    struct yk_trace *trace = NULL;
    struct yk_text name = {0};
    YK_TRY(yk_trace_create(&trace));
    yk_status status = yk_trace_add_rank(trace, device);
    for (int32_t i = 0; i < executor->list->op_count && status == YK_OK; i++) {
        status = add_event(executor, i, executor->last_began_s, &name, trace);
    }
    yk_text_free(&name);
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return status;
    }
    *out = trace;
    return YK_OK;
}
