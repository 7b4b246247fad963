#include "trace/trace.h"

#include "support/support.h"

#include <string.h>

static struct yk_trace *read(const char *text)
{
    struct yk_trace *trace = NULL;
    assert_ok(yk_chrome_trace_parse_json(text, strlen(text), "test", &trace));
    return trace;
}

/* Ranks of odd names, touching events, bytes and none, a flow. */
static void what_was_written_comes_back(void **state)
{
    (void)state;
    static const struct yk_trace_event events[] = {
        {0, YK_LANE_COMPUTE, "forward \"0\" <b>\\\n\xed\x95\x9c", 0, 0.1, 0},
        {0, YK_LANE_COMPUTE, "backward", 0.1, 0.3, 0},
        {1, YK_LANE_COMM, "all_gather", 1e-9, 0.25, 4096.5},
        {1, YK_LANE_COPY, "load", 7, 7, 1e15},
    };
    enum {
        COUNT = sizeof events / sizeof *events
    };
    struct yk_trace *written = NULL;
    struct yk_text text = {0};
    assert_ok(yk_trace_create(&written));
    assert_ok(yk_trace_add_rank(written, "GPU \"0\""));
    assert_ok(yk_trace_add_rank(written, ""));
    for (int i = 0; i < COUNT; i++) {
        assert_ok(yk_trace_add_event(written, &events[i], NULL));
    }
    assert_ok(yk_trace_add_flow(written, (struct yk_trace_flow){0, 2}));
    assert_ok(yk_chrome_trace_write_json(written, &text));
    struct yk_trace *trace = read(text.bytes);
    assert_int_equal(yk_trace_rank_count(trace), 2);
    assert_string_equal(yk_trace_rank_device_name(trace, 0), "GPU \"0\"");
    assert_string_equal(yk_trace_rank_device_name(trace, 1), "");
    assert_int_equal(yk_trace_event_count(trace), COUNT);
    for (int i = 0; i < COUNT; i++) {
        const struct yk_trace_event *event = yk_trace_event_at(trace, i);
        assert_int_equal(event->rank, events[i].rank);
        assert_int_equal(event->lane, events[i].lane);
        assert_string_equal(event->op, events[i].op);
        assert_true(event->start_s == events[i].start_s);
        assert_true(event->end_s == events[i].end_s);
        assert_true(event->bytes == events[i].bytes);
    }
    assert_int_equal(yk_trace_flow_count(trace), 0);
    yk_text_free(&text);
    yk_trace_destroy(trace);
    yk_trace_destroy(written);
}

static void other_kinds_of_events_are_passed_over(void **state)
{
    (void)state;
    struct yk_trace *trace =
        read("{\"displayTimeUnit\": \"ms\", \"traceEvents\": ["
             "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"a\"}},"
             "{\"ph\": \"M\", \"pid\": 9, \"name\": \"process_labels\"}, {\"ph\": \"C\"}, {}, 3,"
             "{\"ph\": \"X\", \"pid\": 1, \"tid\": 2, \"name\": \"send\", \"ts\": 2.5, \"dur\": 1}"
             "]}");
    assert_int_equal(yk_trace_event_count(trace), 1);
    assert_int_equal(yk_trace_event_at(trace, 0)->lane, YK_LANE_COMM);
    assert_true(yk_trace_event_at(trace, 0)->start_s == 2.5e-6);
    assert_true(yk_trace_event_at(trace, 0)->end_s == 3.5e-6);
    yk_trace_destroy(trace);
}

/* `events` follow the name of process 1. */
static void expect_refused(const char *events, const char *message)
{
    struct yk_trace *trace = NULL;
    struct yk_text text = {0};
    yk_text_addf(&text,
                 "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", "
                 "\"args\": {\"name\": \"a\"}}, %s]}",
                 events);
    assert_fails(yk_chrome_trace_parse_json(text.bytes, text.length, "test", &trace),
                 YK_ERROR_INPUT, message);
    assert_null(trace);
    yk_text_free(&text);
}

static void events_that_make_no_sense_are_refused_by_their_place(void **state)
{
    (void)state;
    expect_refused("{\"ph\": \"M\", \"pid\": 3, \"name\": \"process_name\"}",
                   "test: traceEvents[1]: process 3 is named where 2 should be");
    expect_refused("{\"ph\": \"M\", \"pid\": 2, \"name\": \"process_name\", \"args\": {}}",
                   "test: traceEvents[1]: process 2 has no \"name\" that is a string");
    expect_refused("{}, {\"ph\": \"X\", \"name\": 3}",
                   "test: traceEvents[2]: \"name\" must be a string");
    expect_refused("{\"ph\": \"X\", \"name\": \"a\", \"pid\": 2, \"tid\": 1}",
                   "test: traceEvents[1]: \"pid\" must be a whole number from 1 to 1");
    expect_refused("{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1.5}",
                   "test: traceEvents[1]: \"tid\" must be a whole number from 1 to 3");
    expect_refused("{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 1e13}",
                   "test: traceEvents[1]: \"ts\" must be a number of microseconds, at most "
                   "1000000000000");
    expect_refused("{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 1}",
                   "test: traceEvents[1]: \"dur\" must be a number of microseconds, at most "
                   "1000000000000");
    expect_refused("{\"ph\": \"X\", \"name\": \"a\", \"args\": {\"bytes\": -1}}",
                   "test: traceEvents[1]: \"bytes\" must be a number from 0 up");
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    static const char early[] = "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\"}]}";
    struct yk_trace *trace = NULL;
    assert_fails(yk_chrome_trace_parse_json("[]", 2, "test", &trace), YK_ERROR_INPUT,
                 "test: a trace has a list \"traceEvents\"");
    assert_fails(yk_chrome_trace_parse_json(early, sizeof early - 1, "test", &trace),
                 YK_ERROR_INPUT,
                 "test: traceEvents[0]: something happens before the first process is named");
    assert_int_equal(yk_chrome_trace_parse_json("{", 1, "test", &trace), YK_ERROR_INPUT);
    assert_null(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_comes_back),
        cmocka_unit_test(other_kinds_of_events_are_passed_over),
        cmocka_unit_test(events_that_make_no_sense_are_refused_by_their_place),
        cmocka_unit_test(what_is_no_trace_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
