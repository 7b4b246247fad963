#include "trace/chrome.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

/* A whole number from 1 to `most`; processes and threads are numbered from 1. */
static yk_status read_place(const struct yk_json *event, const char *key, int32_t most,
                            int32_t *out)
{
    double value = 0;
    if (!yk_json_number(yk_json_get(event, key), &value) || !(value >= 1 && value <= most) ||
        value != floor(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number from 1 to %d", key,
                       (int)most);
    }
    *out = (int32_t)value;
    return YK_OK;
}

/* Eleven days: a double holds every nanosecond of them, so that times come back as they were. */
static const double MOST_MICROSECONDS = 1e12;

static yk_status read_time(const struct yk_json *event, const char *key, double *out)
{
    if (!yk_json_number(yk_json_get(event, key), out) || !(fabs(*out) <= MOST_MICROSECONDS)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number of microseconds, at most %.0f", key,
                       MOST_MICROSECONDS);
    }
    return YK_OK;
}

/* Ranks are named one by one, in their order, before anything happens on them. */
static yk_status read_name(const struct yk_json *event, struct yk_trace *trace)
{
    const char *kind = yk_json_string(yk_json_get(event, "name"));
    const char *device = yk_json_string(yk_json_get(yk_json_get(event, "args"), "name"));
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
    const struct yk_json *bytes = yk_json_get(yk_json_get(event, "args"), "bytes");
    struct yk_trace_event read = {.op = yk_json_string(yk_json_get(event, "name"))};
    int32_t process = 0;
    int32_t thread = 0;
    double start = 0;
    double duration = 0;
    if (!read.op) {
        return yk_fail(YK_ERROR_INPUT, "\"name\" must be a string");
    }
    if (bytes && (!yk_json_number(bytes, &read.bytes) || !(read.bytes >= 0))) {
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
    read.end_s = fmin(read.end_s, read.start_s + MOST_MICROSECONDS / 1e6);
    return yk_trace_add_event(trace, &read, NULL);
}

static yk_status read_event(const struct yk_json *event, struct yk_trace *trace)
{
    const char *phase = yk_json_string(yk_json_get(event, "ph"));
    if (phase && strcmp(phase, "M") == 0) {
        return read_name(event, trace);
    }
    return phase && strcmp(phase, "X") == 0 ? read_complete(event, trace) : YK_OK;
}

static yk_status read_events(const struct yk_json *root, struct yk_trace *trace)
{
    const struct yk_json *events = yk_json_get(root, "traceEvents");
    if (!yk_json_is_array(events)) {
        return yk_fail(YK_ERROR_INPUT, "a trace has a list \"traceEvents\"");
    }
    for (size_t i = 0; i < yk_json_count(events); i++) {
        YK_TRY(
            yk_json_add_location(read_event(yk_json_at(events, i), trace), "traceEvents", i, NULL));
    }
    return YK_OK;
}

yk_status yk_chrome_read(const char *text, size_t length, const char *source, struct yk_trace **out)
{
    struct yk_json *root = NULL;
    struct yk_trace *trace = NULL;
    yk_status status = yk_json_parse(text, length, &root);
    if (status == YK_OK) {
        status = yk_trace_create(&trace);
    }
    if (status == YK_OK) {
        status = read_events(root, trace);
    }
    yk_json_destroy(root);
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return yk_status_prefix(status, source);
    }
    *out = trace;
    return YK_OK;
}
