#include "trace/trace_merge.h"

#include <math.h>
#include <stddef.h>

static yk_status add_piece(struct yk_trace *whole, const struct yk_trace_part *piece)
{
    const int32_t first_rank = yk_trace_rank_count(whole);
    const int32_t first_event = yk_trace_event_count(whole);
    const struct yk_trace *trace = piece->trace;
    if (!isfinite(piece->offset_s)) {
        return yk_fail(YK_ERROR_NUMBERS, "the clock of rank %d is off by %g s", (int)first_rank,
                       piece->offset_s);
    }
    for (int32_t rank = 0; rank < yk_trace_rank_count(trace); rank++) {
        YK_TRY(yk_trace_add_rank(whole, yk_trace_rank_name(trace, rank)));
    }
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        struct yk_trace_event event = *yk_trace_event_at(trace, i);
        event.rank += first_rank;
        event.start_s += piece->offset_s;
        event.end_s += piece->offset_s;
        YK_TRY(yk_trace_add_event(whole, &event, NULL));
    }
    for (int32_t i = 0; i < yk_trace_flow_count(trace); i++) {
        struct yk_trace_flow flow = yk_trace_flow_at(trace, i);
        flow.from_event += first_event;
        flow.to_event += first_event;
        YK_TRY(yk_trace_add_flow(whole, flow));
    }
    return YK_OK;
}

yk_status yk_trace_merge(const struct yk_trace_part *pieces, int32_t count, struct yk_trace **out)
{
    struct yk_trace *whole = NULL;
    YK_TRY(yk_trace_create(&whole));
    yk_status status = YK_OK;
    for (int32_t i = 0; i < count && status == YK_OK; i++) {
        status = add_piece(whole, &pieces[i]);
    }
    if (status != YK_OK) {
        yk_trace_destroy(whole);
        return status;
    }
    *out = whole;
    return YK_OK;
}
