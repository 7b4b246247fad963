#include "trace/trace.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"

#include <math.h>
#include <string.h>

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
    yk_json_write_begin_object_on_new_line(json, 0);
    yk_json_write_string(json, "ph", phase);
    yk_json_write_integer(json, "pid", process_of(rank));
}

/* Names a process, or one of its threads, and says where it stands among the others. */
static void add_name(int32_t rank, int thread, const char *name, int32_t place,
                     struct yk_json_writer *json)
{
    for (int sorts = 0; sorts < 2; sorts++) {
        begin_event(json, "M", rank);
        if (thread > 0) {
            yk_json_write_integer(json, "tid", thread);
            yk_json_write_string(json, "name", sorts ? "thread_sort_index" : "thread_name");
        } else {
            yk_json_write_string(json, "name", sorts ? "process_sort_index" : "process_name");
        }
        yk_json_write_begin_object(json, "args");
        if (sorts) {
            yk_json_write_integer(json, "sort_index", place);
        } else {
            yk_json_write_string(json, "name", name);
        }
        yk_json_write_end_object(json);
        yk_json_write_end_object(json);
    }
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
        add_name(rank, 0, yk_trace_rank_device_name(trace, rank), rank, json);
        for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
            if (used[rank * YK_LANE_COUNT + lane]) {
                add_name(rank, thread_of((enum yk_lane)lane),
                         yk_trace_lane_name((enum yk_lane)lane), lane, json);
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

yk_status yk_chrome_trace_write_json(const struct yk_trace *trace, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "displayTimeUnit", "ms");
    yk_json_write_begin_array(&json, "traceEvents");
    YK_TRY_WITH_TEMPORARY_ARENA(arena, add_names(trace, arena, &json));
    for (int32_t i = 0; i < yk_trace_event_count(trace); i++) {
        add_complete(yk_trace_event_at(trace, i), &json);
    }
    for (int32_t i = 0; i < yk_trace_flow_count(trace); i++) {
        add_flow(trace, i, &json);
    }
    yk_json_write_newline(&json, 0);
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

/* A whole number from 1 to `max`; processes and threads are numbered from 1. */
static yk_status read_place(const struct yk_json *event, const char *key, int32_t max, int32_t *out)
{
    double value = 0;
    if (!yk_json_number_value(yk_json_get_member(event, key), &value) ||
        !(value >= 1 && value <= max) || value != floor(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number from 1 to %d", key, (int)max);
    }
    *out = (int32_t)value;
    return YK_OK;
}

/* Eleven days: a double holds every nanosecond of them, so that times come back as they were. */
static const double MAX_MICROSECONDS = 1e12;

static yk_status read_time(const struct yk_json *event, const char *key, double *out)
{
    if (!yk_json_number_value(yk_json_get_member(event, key), out) ||
        !(fabs(*out) <= MAX_MICROSECONDS)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number of microseconds, at most %.0f", key,
                       MAX_MICROSECONDS);
    }
    return YK_OK;
}

/* Ranks are named one by one, in their order, before anything happens on them. */
static yk_status read_name(const struct yk_json *event, struct yk_trace *trace)
{
    const char *kind = yk_json_string_value(yk_json_get_member(event, "name"));
    const char *device =
        yk_json_string_value(yk_json_get_member(yk_json_get_member(event, "args"), "name"));
    int32_t process = 0;
    if (!kind || strcmp(kind, "process_name") != 0) {
        return YK_OK;
    }
    YK_TRY(read_place(event, "pid", INT32_MAX, &process));
    if (process != yk_trace_rank_count(trace) + 1) {
        return yk_fail(YK_ERROR_INPUT, "process %d is named where %d should be", (int)process,
                       (int)yk_trace_rank_count(trace) + 1);
    }
    if (!device) {
        return yk_fail(YK_ERROR_INPUT, "process %d has no \"name\" that is a string", (int)process);
    }
    return yk_trace_add_rank(trace, device);
}

static yk_status read_complete(const struct yk_json *event, struct yk_trace *trace)
{
    const struct yk_json *bytes = yk_json_get_member(yk_json_get_member(event, "args"), "bytes");
    struct yk_trace_event read = {.op = yk_json_string_value(yk_json_get_member(event, "name"))};
    int32_t process = 0;
    int32_t thread = 0;
    double start = 0;
    double duration = 0;
    if (!read.op) {
        return yk_fail(YK_ERROR_INPUT, "\"name\" must be a string");
    }
    if (bytes && (!yk_json_number_value(bytes, &read.bytes) || !(read.bytes >= 0))) {
        return yk_fail(YK_ERROR_INPUT, "\"bytes\" must be a number from 0 up");
    }
    if (yk_trace_rank_count(trace) == 0) {
        return yk_fail(YK_ERROR_INPUT, "something happens before the first process is named");
    }
    YK_TRY(read_place(event, "pid", yk_trace_rank_count(trace), &process));
    YK_TRY(read_place(event, "tid", YK_LANE_COUNT, &thread));
    YK_TRY(read_time(event, "ts", &start));
    YK_TRY(read_time(event, "dur", &duration));
    read.rank = process - 1;
    read.lane = (enum yk_lane)(thread - 1);
    /* Both ends are whole nanoseconds: an event that ended where the next began still does. */
    read.start_s = round(start * 1e3) / 1e9;
    read.end_s = round((start + duration) * 1e3) / 1e9;
    /* Rounded apart, they would be further from each other than is read. */
    read.end_s = fmin(read.end_s, read.start_s + MAX_MICROSECONDS / 1e6);
    return yk_trace_add_event(trace, &read, NULL);
}

static yk_status read_event(const struct yk_json *event, struct yk_trace *trace)
{
    const char *phase = yk_json_string_value(yk_json_get_member(event, "ph"));
    if (phase && strcmp(phase, "M") == 0) {
        return read_name(event, trace);
    }
    return phase && strcmp(phase, "X") == 0 ? read_complete(event, trace) : YK_OK;
}

static yk_status read_events(const struct yk_json *root, struct yk_trace *trace)
{
    const struct yk_json *events = yk_json_get_member(root, "traceEvents");
    if (!yk_json_is_array(events)) {
        return yk_fail(YK_ERROR_INPUT, "a trace has a list \"traceEvents\"");
    }
    for (size_t i = 0; i < yk_json_array_count(events); i++) {
        YK_TRY(yk_json_prefix_error_with_element(read_event(yk_json_array_at(events, i), trace),
                                                 "traceEvents", i, NULL));
    }
    return YK_OK;
}

yk_status yk_chrome_trace_parse_json(const char *text, size_t length, const char *source,
                                     struct yk_trace **out)
{
    struct yk_json *root = NULL;
    struct yk_trace *trace = NULL;
    yk_status status = yk_json_parse(text, length, &root);
    YK_IF_OK(yk_trace_create(&trace));
    YK_IF_OK(read_events(root, trace));
    yk_json_destroy(root);
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return yk_status_prefix_message(status, source);
    }
    *out = trace;
    return YK_OK;
}
