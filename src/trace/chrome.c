#include "trace/chrome.h"

#include "base/arena.h"
#include "base/json_write.h"

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

static void begin_event(struct yk_json_writer *json, const char *phase, int32_t rank)
{
    yk_json_write_begin_row(json, 0);
    yk_json_write_string(json, "ph", phase);
    yk_json_write_integer(json, "pid", process_of(rank));
}

static void add_process(const struct yk_trace *trace, int32_t rank, struct yk_json_writer *json)
{
    begin_event(json, "M", rank);
    yk_json_write_string(json, "name", "process_name");
    yk_json_write_begin_object(json, "args");
    yk_json_write_string(json, "name", yk_trace_rank_name(trace, rank));
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
    begin_event(json, "M", rank);
    yk_json_write_string(json, "name", "process_sort_index");
    yk_json_write_begin_object(json, "args");
    yk_json_write_integer(json, "sort_index", rank);
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void add_thread(int32_t rank, enum yk_lane lane, struct yk_json_writer *json)
{
    begin_event(json, "M", rank);
    yk_json_write_integer(json, "tid", thread_of(lane));
    yk_json_write_string(json, "name", "thread_name");
    yk_json_write_begin_object(json, "args");
    yk_json_write_string(json, "name", yk_trace_lane_name(lane));
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
    begin_event(json, "M", rank);
    yk_json_write_integer(json, "tid", thread_of(lane));
    yk_json_write_string(json, "name", "thread_sort_index");
    yk_json_write_begin_object(json, "args");
    yk_json_write_integer(json, "sort_index", (int)lane);
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

/* Names every rank, and the lanes of it that something happens on. */
static yk_status add_names(const struct yk_trace *trace, struct yk_arena *arena,
                           struct yk_json_writer *json)
{
    const int32_t rank_count = yk_trace_rank_count(trace);
    bool *used = NULL; /* (ranks, lanes) */
    YK_TRY_NEW(arena, used, (int64_t)rank_count * YK_LANE_COUNT);
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        used[event->rank * YK_LANE_COUNT + (int32_t)event->lane] = true;
    }
    for (int32_t rank = 0; rank < rank_count; rank++) {
        add_process(trace, rank, json);
        for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
            if (used[rank * YK_LANE_COUNT + lane]) {
                add_thread(rank, (enum yk_lane)lane, json);
            }
        }
    }
    return YK_OK;
}

static void add_complete(const struct yk_trace_event *event, struct yk_json_writer *json)
{
    const double start = microseconds(event->start_s);
    begin_event(json, "X", event->rank);
    yk_json_write_integer(json, "tid", thread_of(event->lane));
    yk_json_write_string(json, "name", event->op);
    yk_json_write_string(json, "cat", yk_trace_lane_name(event->lane));
    yk_json_write_number(json, "ts", start);
    /* Both ends are thousandths; so is their difference, once the rounding noise is gone. */
    yk_json_write_number(json, "dur", round((microseconds(event->end_s) - start) * 1e3) / 1e3);
    if (event->bytes > 0) {
        yk_json_write_begin_object(json, "args");
        yk_json_write_number(json, "bytes", event->bytes);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_object(json);
}

static void add_flow_end(const char *phase, int32_t number, const struct yk_trace_event *event,
                         double time_s, struct yk_json_writer *json)
{
    begin_event(json, phase, event->rank);
    yk_json_write_integer(json, "tid", thread_of(event->lane));
    yk_json_write_string(json, "name", "data");
    yk_json_write_string(json, "cat", "flow");
    yk_json_write_integer(json, "id", number + 1);
    yk_json_write_number(json, "ts", microseconds(time_s));
    if (*phase == 'f') {
        yk_json_write_string(json, "bp", "e");
    }
    yk_json_write_end_object(json);
}

/* A flow belongs to the event its time lies in. An event no longer holds its own end, so the flow
 * leaves from the middle; viewers draw the arrow from the end all the same. */
static void add_flow(const struct yk_trace *trace, int32_t number, struct yk_json_writer *json)
{
    const struct yk_trace_flow flow = yk_trace_flow_at(trace, number);
    const struct yk_trace_event *from = yk_trace_event_at(trace, flow.from_event);
    const struct yk_trace_event *to = yk_trace_event_at(trace, flow.to_event);
    add_flow_end("s", number, from, from->start_s + (from->end_s - from->start_s) / 2, json);
    add_flow_end("f", number, to, to->start_s, json);
}

yk_status yk_chrome_write(const struct yk_trace *trace, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "displayTimeUnit", "ms");
    yk_json_write_begin_array(&json, "traceEvents");
    const yk_status status = add_names(trace, arena, &json);
    yk_arena_destroy(arena);
    YK_TRY(status);
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        add_complete(yk_trace_event_at(trace, i), &json);
    }
    for (int32_t i = 0; i < yk_trace_flow_count(trace); i++) {
        add_flow(trace, i, &json);
    }
    yk_json_write_line(&json, 0);
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
