#include "train/executor/round_times.h"

bool yk_round_times_are_whole(const struct yk_round_times *times)
{
    if (times->count != times->program->ranks[times->rank].op_count) {
        return false;
    }
    for (int32_t i = 0; i < times->count; i++) {
        if (times->ops[i].end_s < times->ops[i].start_s) {
            return false;
        }
    }
    return true;
}

static yk_status add_event(const struct yk_round_times *times, const struct yk_op_time *time,
                           struct yk_text *name, struct yk_trace *trace)
{
    const struct yk_op *op = &times->program->ranks[times->rank].ops[time->op];
    name->length = 0;
    yk_op_describe(times->program, op, name);
    YK_TRY(yk_text_status(name));
    const struct yk_trace_event event = {
        .lane = op->lane,
        .op = yk_text_chars(name),
        .start_s = time->start_s - times->began_s,
        .end_s = time->end_s - times->began_s,
        .bytes = op->bytes,
    };
    return yk_trace_add_event(trace, &event, NULL);
}

yk_status yk_round_times_trace(const struct yk_round_times *times, struct yk_trace **out)
{
    const struct yk_program *program = times->program;
    const int32_t device = program->plan->ranks[times->rank].device;
    struct yk_trace *trace = NULL;
    struct yk_text name = {0};
    YK_TRY(yk_trace_create(&trace));
    yk_status status = yk_trace_add_rank(trace, program->cluster->devices[device].name);
    for (int32_t i = 0; i < times->count && status == YK_OK; i++) {
        status = add_event(times, &times->ops[i], &name, trace);
    }
    yk_text_free(&name);
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return status;
    }
    *out = trace;
    return YK_OK;
}
