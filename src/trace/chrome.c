#include "trace/chrome.h"

#include "base/arena.h"

#include <math.h>

/* Perfetto takes process and thread 0 for the idle task of the kernel: ours begin at 1. */
static int process_of(int32_t rank)
{
    return rank + 1;
}

static int thread_of(enum yk_lane lane)
{
    return (int)lane + 1;
}

/* Viewers keep whole nanoseconds. Rounding both ends of an event, and not its length, makes the end
 * of one and the beginning of the next the same number. */
static double microseconds(double time_s)
{
    return round(time_s * 1e9) / 1e3;
}

static void begin_event(struct yk_text *out, const char *phase, int32_t rank)
{
    const bool first = out->bytes[out->length - 1] == '[';
    yk_text_addf(out, "%s{\"ph\":\"%s\",\"pid\":%d", first ? "\n" : ",\n", phase, process_of(rank));
}

static void add_process(const struct yk_trace *trace, int32_t rank, struct yk_text *out)
{
    begin_event(out, "M", rank);
    yk_text_add(out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    yk_text_add_json(out, yk_trace_rank_name(trace, rank));
    yk_text_add(out, "}}");
    begin_event(out, "M", rank);
    yk_text_addf(out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}", rank);
}

static void add_thread(int32_t rank, enum yk_lane lane, struct yk_text *out)
{
    begin_event(out, "M", rank);
    yk_text_addf(out, ",\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
                 thread_of(lane), yk_lane_name(lane));
    begin_event(out, "M", rank);
    yk_text_addf(out, ",\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}",
                 thread_of(lane), (int)lane);
}

/* Names every rank, and the lanes of it that something happens on. */
static yk_status add_names(const struct yk_trace *trace, struct yk_arena *arena,
                           struct yk_text *out)
{
    const int32_t rank_count = yk_trace_rank_count(trace);
    bool *used = NULL; /* (ranks, lanes) */
    YK_TRY_NEW(arena, used, (int64_t)rank_count * YK_LANE_COUNT);
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        used[event->rank * YK_LANE_COUNT + (int32_t)event->lane] = true;
    }
    for (int32_t rank = 0; rank < rank_count; rank++) {
        add_process(trace, rank, out);
        for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
            if (used[rank * YK_LANE_COUNT + lane]) {
                add_thread(rank, (enum yk_lane)lane, out);
            }
        }
    }
    return YK_OK;
}

static void add_complete(const struct yk_trace_event *event, struct yk_text *out)
{
    const double start = microseconds(event->start_s);
    begin_event(out, "X", event->rank);
    yk_text_addf(out, ",\"tid\":%d,\"name\":", thread_of(event->lane));
    yk_text_add_json(out, event->op);
    yk_text_addf(out, ",\"cat\":\"%s\",\"ts\":", yk_lane_name(event->lane));
    yk_text_add_number(out, start);
    yk_text_add(out, ",\"dur\":");
    /* Both ends are thousandths; so is their difference, once the rounding noise is gone. */
    yk_text_add_number(out, round((microseconds(event->end_s) - start) * 1e3) / 1e3);
    if (event->bytes > 0) {
        yk_text_add(out, ",\"args\":{\"bytes\":");
        yk_text_add_number(out, event->bytes);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "}");
}

static void add_flow_end(const char *phase, int32_t number, const struct yk_trace_event *event,
                         double time_s, struct yk_text *out)
{
    begin_event(out, phase, event->rank);
    yk_text_addf(out, ",\"tid\":%d,\"name\":\"data\",\"cat\":\"flow\",\"id\":%d,\"ts\":",
                 thread_of(event->lane), number + 1);
    yk_text_add_number(out, microseconds(time_s));
    yk_text_add(out, *phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* A flow belongs to the event its time lies in. An event no longer holds its own end, so the flow
 * leaves from the middle; viewers draw the arrow from the end all the same. */
static void add_flow(const struct yk_trace *trace, int32_t number, struct yk_text *out)
{
    const struct yk_trace_flow flow = yk_trace_flow_at(trace, number);
    const struct yk_trace_event *from = yk_trace_event_at(trace, flow.from_event);
    const struct yk_trace_event *to = yk_trace_event_at(trace, flow.to_event);
    add_flow_end("s", number, from, from->start_s + (from->end_s - from->start_s) / 2, out);
    add_flow_end("f", number, to, to->start_s, out);
}

yk_status yk_trace_write_chrome(const struct yk_trace *trace, struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_text_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    yk_status status = yk_text_status(out);
    if (status == YK_OK) {
        status = add_names(trace, arena, out);
    }
    yk_arena_destroy(arena);
    YK_TRY(status);
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        add_complete(yk_trace_event_at(trace, i), out);
    }
    for (int32_t i = 0; i < yk_trace_flow_count(trace); i++) {
        add_flow(trace, i, out);
    }
    yk_text_add(out, "\n]}\n");
    return yk_text_status(out);
}
