#include "trace/trace.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const tricky_name = "a \"b\" <script>\\\n\xed\x95\x9c";

struct fixture {
    struct yk_trace *trace;
    struct yk_text text;
    struct yk_json *json;
    const struct yk_json *events;
};

static void add_event(struct fixture *fixture, int32_t rank, enum yk_lane lane, const char *op,
                      double start_s, double end_s, double bytes)
{
    const struct yk_trace_event event = {rank, lane, op, start_s, end_s, bytes};
    assert_int_equal(yk_trace_add_event(fixture->trace, &event, NULL), YK_OK);
}

/* Two ranks, three events on three lanes, one flow. */
static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    assert_int_equal(yk_trace_create(&fixture.trace), YK_OK);
    assert_int_equal(yk_trace_add_rank(fixture.trace, "GPU 0"), YK_OK);
    assert_int_equal(yk_trace_add_rank(fixture.trace, tricky_name), YK_OK);
    add_event(&fixture, 0, YK_LANE_COMPUTE, "forward", 0, 0.25, 0);
    add_event(&fixture, 0, YK_LANE_COMM, "send", 0.25, 0.75, 4096);
    add_event(&fixture, 1, YK_LANE_COMPUTE, tricky_name, 0.75, 2, 0);
    assert_int_equal(yk_trace_add_flow(fixture.trace, (struct yk_trace_flow){0, 2}), YK_OK);
    assert_int_equal(yk_chrome_trace_write_json(fixture.trace, &fixture.text), YK_OK);
    assert_int_equal(yk_json_parse(fixture.text.bytes, fixture.text.length, &fixture.json), YK_OK);
    fixture.events = yk_json_get_member(fixture.json, "traceEvents");
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    yk_json_destroy(fixture->json);
    yk_text_free(&fixture->text);
    yk_trace_destroy(fixture->trace);
    return 0;
}

/* The `number`th event of a phase, counted from 0; NULL after the last. */
static const struct yk_json *event_of(const struct fixture *fixture, const char *phase, int number)
{
    for (size_t i = 0; i < yk_json_array_count(fixture->events); i++) {
        const struct yk_json *event = yk_json_array_at(fixture->events, i);
        if (strcmp(yk_json_string_value(yk_json_get_member(event, "ph")), phase) == 0 &&
            number-- == 0) {
            return event;
        }
    }
    return NULL;
}

static double number_of(const struct yk_json *event, const char *key)
{
    double value = -1;
    assert_true(yk_json_number_value(yk_json_get_member(event, key), &value));
    return value;
}

static void complete_events_are_in_microseconds(void **state)
{
    const struct fixture *fixture = *state;
    const struct yk_json *event = event_of(fixture, "X", 1);
    assert_string_equal(yk_json_string_value(yk_json_get_member(event, "name")), "send");
    assert_true(number_of(event, "ts") == 250000);
    assert_true(number_of(event, "dur") == 500000);
    assert_true(number_of(yk_json_get_member(event, "args"), "bytes") == 4096);
    assert_null(event_of(fixture, "X", 3));
}

static void names_come_back_as_they_were(void **state)
{
    const struct fixture *fixture = *state;
    const struct yk_json *event = event_of(fixture, "X", 2);
    assert_string_equal(yk_json_string_value(yk_json_get_member(event, "name")), tricky_name);
}

/* What the metadata event `kind` of this process and thread (0: none) says. */
static const struct yk_json *metadata(const struct fixture *fixture, const char *kind, double pid,
                                      double tid)
{
    for (int i = 0;; i++) {
        const struct yk_json *event = event_of(fixture, "M", i);
        assert_non_null(event);
        double thread = 0;
        (void)yk_json_number_value(yk_json_get_member(event, "tid"), &thread);
        if (strcmp(yk_json_string_value(yk_json_get_member(event, "name")), kind) == 0 &&
            number_of(event, "pid") == pid && thread == tid) {
            return yk_json_get_member(event, "args");
        }
    }
}

static void every_process_and_thread_is_named_and_in_order(void **state)
{
    const struct fixture *fixture = *state;
    double before = -1;
    for (int i = 0; i < 3; i++) {
        const struct yk_json *event = event_of(fixture, "X", i);
        const double pid = number_of(event, "pid");
        const double tid = number_of(event, "tid");
        const char *device = yk_json_string_value(
            yk_json_get_member(metadata(fixture, "process_name", pid, 0), "name"));
        const char *lane = yk_json_string_value(
            yk_json_get_member(metadata(fixture, "thread_name", pid, tid), "name"));
        assert_string_equal(device, i < 2 ? "GPU 0" : tricky_name);
        assert_string_equal(lane, i == 1 ? "comm" : "compute");
        const double place =
            10 * number_of(metadata(fixture, "process_sort_index", pid, 0), "sort_index") +
            number_of(metadata(fixture, "thread_sort_index", pid, tid), "sort_index");
        assert_true(place > before);
        before = place;
    }
}

static void flow_ends_lie_inside_the_events_they_join(void **state)
{
    const struct fixture *fixture = *state;
    const struct yk_json *start = event_of(fixture, "s", 0);
    const struct yk_json *finish = event_of(fixture, "f", 0);
    assert_true(number_of(start, "id") == number_of(finish, "id"));
    assert_string_equal(yk_json_string_value(yk_json_get_member(finish, "bp")), "e");
    assert_true(number_of(start, "ts") >= 0 && number_of(start, "ts") < 250000);
    assert_true(number_of(finish, "ts") == 750000);
    assert_null(event_of(fixture, "s", 1));
}

static void events_that_touch_share_one_number(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    assert_int_equal(yk_trace_create(&fixture.trace), YK_OK);
    assert_int_equal(yk_trace_add_rank(fixture.trace, "P1"), YK_OK);
    for (int i = 0; i < 50; i++) {
        add_event(&fixture, 0, YK_LANE_COMPUTE, "t", 0.1 * i, 0.1 * (i + 1), 0);
    }
    assert_int_equal(yk_chrome_trace_write_json(fixture.trace, &fixture.text), YK_OK);
    assert_int_equal(yk_json_parse(fixture.text.bytes, fixture.text.length, &fixture.json), YK_OK);
    fixture.events = yk_json_get_member(fixture.json, "traceEvents");
    for (int i = 0; i < 50; i++) {
        const struct yk_json *event = event_of(&fixture, "X", i);
        assert_true(number_of(event, "ts") == 100000.0 * i);
        assert_true(number_of(event, "dur") == 100000);
    }
    yk_json_destroy(fixture.json);
    yk_text_free(&fixture.text);
    yk_trace_destroy(fixture.trace);
}

static void empty_trace_is_valid(void **state)
{
    (void)state;
    struct fixture fixture = {0};
    assert_int_equal(yk_trace_create(&fixture.trace), YK_OK);
    assert_int_equal(yk_chrome_trace_write_json(fixture.trace, &fixture.text), YK_OK);
    assert_int_equal(yk_json_parse(fixture.text.bytes, fixture.text.length, &fixture.json), YK_OK);
    assert_int_equal(yk_json_array_count(yk_json_get_member(fixture.json, "traceEvents")), 0);
    yk_json_destroy(fixture.json);
    yk_text_free(&fixture.text);
    yk_trace_destroy(fixture.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(complete_events_are_in_microseconds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_come_back_as_they_were, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_process_and_thread_is_named_and_in_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(flow_ends_lie_inside_the_events_they_join, set_up,
                                        tear_down),
        cmocka_unit_test(events_that_touch_share_one_number),
        cmocka_unit_test(empty_trace_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
