#include "trace/trace.h"

#include "support/support.h"

#include <math.h>

static struct yk_trace *make(const char *device, double start_s)
{
    struct yk_trace *trace = NULL;
    assert_ok(yk_trace_create(&trace));
    assert_ok(yk_trace_add_rank(trace, device));
    const struct yk_trace_event first = {0, YK_LANE_COMPUTE, "forward", start_s, start_s + 1, 0};
    const struct yk_trace_event second = {0, YK_LANE_COMM, "send", start_s + 1, start_s + 2, 64};
    assert_ok(yk_trace_add_event(trace, &first, NULL));
    assert_ok(yk_trace_add_event(trace, &second, NULL));
    assert_ok(yk_trace_add_flow(trace, (struct yk_trace_flow){0, 1}));
    return trace;
}

/* Rank 1's clock shows 100 s where rank 0's shows 2. */
static void ranks_follow_each_other_by_one_clock(void **state)
{
    (void)state;
    struct yk_trace *parts[] = {make("cpu0", 2), make("cpu1", 100.5)};
    struct yk_trace *whole = NULL;
    const struct yk_trace_merge_input list[] = {{parts[0], -2}, {parts[1], -100}};
    assert_ok(yk_trace_merge(list, 2, &whole));
    assert_int_equal(yk_trace_rank_count(whole), 2);
    assert_string_equal(yk_trace_rank_device_name(whole, 0), "cpu0");
    assert_string_equal(yk_trace_rank_device_name(whole, 1), "cpu1");
    assert_int_equal(yk_trace_event_count(whole), 4);
    assert_true(yk_trace_event_at(whole, 0)->start_s == 0);
    const struct yk_trace_event *last = yk_trace_event_at(whole, 3);
    assert_int_equal(last->rank, 1);
    assert_int_equal(last->lane, YK_LANE_COMM);
    assert_string_equal(last->op, "send");
    assert_true(last->start_s == 1.5 && last->end_s == 2.5 && last->bytes == 64);
    assert_int_equal(yk_trace_flow_count(whole), 2);
    assert_int_equal(yk_trace_flow_at(whole, 1).from_event, 2);
    assert_int_equal(yk_trace_flow_at(whole, 1).to_event, 3);
    yk_trace_destroy(whole);
    yk_trace_destroy(parts[0]);
    yk_trace_destroy(parts[1]);
}

static void a_clock_that_is_no_number_is_refused(void **state)
{
    (void)state;
    struct yk_trace *parts[] = {make("cpu0", 0), make("cpu1", 0)};
    struct yk_trace *whole = NULL;
    const struct yk_trace_merge_input list[] = {{parts[0], 0}, {parts[1], INFINITY}};
    assert_fails(yk_trace_merge(list, 2, &whole), YK_ERROR_NUMBERS,
                 "the clock of rank 1 is off by inf s");
    assert_null(whole);
    yk_trace_destroy(parts[0]);
    yk_trace_destroy(parts[1]);
}

static void nothing_merges_to_a_trace_of_nothing(void **state)
{
    (void)state;
    struct yk_trace *whole = NULL;
    assert_ok(yk_trace_merge(NULL, 0, &whole));
    assert_int_equal(yk_trace_rank_count(whole), 0);
    yk_trace_destroy(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_follow_each_other_by_one_clock),
        cmocka_unit_test(a_clock_that_is_no_number_is_refused),
        cmocka_unit_test(nothing_merges_to_a_trace_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
