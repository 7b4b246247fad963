#include "trace/trace.h"

#include "base/arena.h"
#include "base/array.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

struct yk_trace {
    struct yk_arena *names; /* owns the characters of every name below */
    const char **ranks;
    struct yk_trace_event *events;
    struct yk_trace_flow *flows;
    int32_t rank_count;
    int32_t event_count;
    int32_t flow_count;
    int32_t rank_capacity;
    int32_t event_capacity;
    int32_t flow_capacity;
};

yk_status yk_trace_create(struct yk_trace **out)
{
    struct yk_trace *trace = calloc(1, sizeof *trace);
    YK_TRY_ALLOCATED(trace);
    YK_TRY_OR_CLEAN_UP(yk_arena_create(&trace->names), free(trace));
    *out = trace;
    return YK_OK;
}

void yk_trace_destroy(struct yk_trace *trace)
{
    if (!trace) {
        return;
    }
    yk_arena_destroy(trace->names);
    free(trace->ranks);
    free(trace->events);
    free(trace->flows);
    free(trace);
}

yk_status yk_trace_add_rank(struct yk_trace *trace, const char *device)
{
    const char *name = NULL;
    YK_TRY(yk_arena_strdup(trace->names, device, &name));
    YK_TRY_GROW_ARRAY(trace->ranks, trace->rank_capacity, trace->rank_count);
    trace->ranks[trace->rank_count++] = name;
    return YK_OK;
}

yk_status yk_trace_add_event(struct yk_trace *trace, const struct yk_trace_event *event,
                             int32_t *out)
{
    struct yk_trace_event copy = *event;
    if (event->rank < 0 || event->rank >= trace->rank_count) {
        return yk_fail(YK_ERROR_INPUT, "event \"%s\" of a trace: there is no rank %d", event->op,
                       event->rank);
    }
    if (!isfinite(event->start_s) || !isfinite(event->end_s) || event->end_s < event->start_s) {
        return yk_fail(YK_ERROR_NUMBERS, "event \"%s\" of a trace lasts from %g s to %g s",
                       event->op, event->start_s, event->end_s);
    }
    YK_TRY(yk_arena_strdup(trace->names, event->op, &copy.op));
    YK_TRY_GROW_ARRAY(trace->events, trace->event_capacity, trace->event_count);
    if (out) {
        *out = trace->event_count;
    }
    trace->events[trace->event_count++] = copy;
    return YK_OK;
}

yk_status yk_trace_add_flow(struct yk_trace *trace, struct yk_trace_flow flow)
{
    const int32_t count = trace->event_count;
    if (flow.from_event < 0 || flow.from_event >= count || flow.to_event < 0 ||
        flow.to_event >= count) {
        return yk_fail(YK_ERROR_INPUT, "a flow of a trace joins events %d and %d of %d",
                       flow.from_event, flow.to_event, count);
    }
    YK_TRY_GROW_ARRAY(trace->flows, trace->flow_capacity, trace->flow_count);
    trace->flows[trace->flow_count++] = flow;
    return YK_OK;
}

int32_t yk_trace_rank_count(const struct yk_trace *trace)
{
    return trace->rank_count;
}

const char *yk_trace_rank_device_name(const struct yk_trace *trace, int32_t rank)
{
    return trace->ranks[rank];
}

int32_t yk_trace_event_count(const struct yk_trace *trace)
{
    return trace->event_count;
}

const struct yk_trace_event *yk_trace_event_at(const struct yk_trace *trace, int32_t number)
{
    return &trace->events[number];
}

int32_t yk_trace_flow_count(const struct yk_trace *trace)
{
    return trace->flow_count;
}

struct yk_trace_flow yk_trace_flow_at(const struct yk_trace *trace, int32_t number)
{
    return trace->flows[number];
}

const char *yk_trace_lane_name(enum yk_lane lane)
{
    static const char *const names[YK_LANE_COUNT] = {
        [YK_LANE_COMPUTE] = "compute",
        [YK_LANE_COMM] = "comm",
        [YK_LANE_COPY] = "copy",
    };
    return names[lane];
}

static yk_status add_part(struct yk_trace *whole, const struct yk_trace_merge_input *part)
{
    const int32_t first_rank = yk_trace_rank_count(whole);
    const int32_t first_event = yk_trace_event_count(whole);
    const struct yk_trace *trace = part->trace;
    if (!isfinite(part->offset_s)) {
        return yk_fail(YK_ERROR_NUMBERS, "the clock of rank %d is off by %g s", (int)first_rank,
                       part->offset_s);
    }
    for (int32_t rank = 0; rank < yk_trace_rank_count(trace); rank++) {
        YK_TRY(yk_trace_add_rank(whole, yk_trace_rank_device_name(trace, rank)));
    }
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        struct yk_trace_event event = *yk_trace_event_at(trace, i);
        event.rank += first_rank;
        event.start_s += part->offset_s;
        event.end_s += part->offset_s;
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

yk_status yk_trace_merge(const struct yk_trace_merge_input *parts, int32_t count,
                         struct yk_trace **out)
{
    struct yk_trace *whole = NULL;
    YK_TRY(yk_trace_create(&whole));
    yk_status status = YK_OK;
    for (int32_t i = 0; i < count && status == YK_OK; i++) {
        status = add_part(whole, &parts[i]);
    }
    YK_TRY_OR_CLEAN_UP(status, yk_trace_destroy(whole));
    *out = whole;
    return YK_OK;
}
