#include "trace/trace.h"

#include "support/support.h"

#include <math.h>

static struct yk_trace *make(int32_t ranks)
{
    struct yk_trace *trace = NULL;
    assert_ok(yk_trace_create(&trace));
    for (int32_t rank = 0; rank < ranks; rank++) {
        assert_ok(yk_trace_add_rank(trace, "cpu"));
    }
    return trace;
}

static void add(struct yk_trace *trace, int32_t rank, enum yk_lane lane, const char *op,
                double start_s, double end_s)
{
    const struct yk_trace_event event = {rank, lane, op, start_s, end_s, 0};
    assert_ok(yk_trace_add_event(trace, &event, NULL));
}

static void expect(const struct yk_trace_breakdown *breakdown, double compute_s, double exposed_s,
                   double idle_s)
{
    assert_true(fabs(breakdown->compute_s - compute_s) < 1e-12);
    assert_true(fabs(breakdown->exposed_s - exposed_s) < 1e-12);
    assert_true(fabs(breakdown->idle_s - idle_s) < 1e-12);
}

/* Compute 0–4 and 6–9, comm 3–5: of it 3–4 is hidden, 4–5 exposed; 5–6 and 9–10 nothing. */
static void what_is_hidden_is_not_exposed_and_all_adds_up(void **state)
{
    (void)state;
    struct yk_trace *trace = make(1);
    struct yk_trace_breakdown breakdown;
    add(trace, 0, YK_LANE_COMPUTE, "forward", 0, 4);
    add(trace, 0, YK_LANE_COMPUTE, "backward", 6, 9);
    add(trace, 0, YK_LANE_COMM, "all_gather", 3, 5);
    add(trace, 0, YK_LANE_COPY, "load", 4, 6);
    assert_ok(yk_trace_breakdown_compute(trace, 10, &breakdown));
    expect(&breakdown, 7, 1, 2);
    assert_true(yk_trace_breakdown_step_length_s(trace) == 9);
    assert_ok(yk_trace_breakdown_compute(trace, 9, &breakdown));
    expect(&breakdown, 7, 1, 1);
    yk_trace_destroy(trace);
}

/* The scatter of 8–12 in steps of 10 goes on from 0 to 2 of the next, where 1–2 is hidden; the
 * gather that began at −3 was under way from 7 of the step before. */
static void what_leaves_the_step_is_counted_in_the_next(void **state)
{
    (void)state;
    struct yk_trace *trace = make(1);
    struct yk_trace_breakdown breakdown;
    add(trace, 0, YK_LANE_COMPUTE, "forward", 1, 7.5);
    add(trace, 0, YK_LANE_COMM, "reduce_scatter", 8, 12);
    add(trace, 0, YK_LANE_COMM, "all_gather", -3, -2.25);
    assert_ok(yk_trace_breakdown_compute(trace, 10, &breakdown));
    expect(&breakdown, 6.5, 0.25 + 2 + 1, 0.25);
    assert_true(yk_trace_breakdown_first_event_start_s(trace) == -3);
    yk_trace_destroy(trace);
}

/* Both reduce; rank 0 comes to it at 2, rank 1 at 6, it ends at 7. */
static void waiting_for_another_rank_is_idle(void **state)
{
    (void)state;
    struct yk_trace *trace = make(2);
    struct yk_trace_breakdown sums[2];
    add(trace, 0, YK_LANE_COMPUTE, "backward", 0, 2);
    add(trace, 0, YK_LANE_COMM, "all_reduce", 2, 7);
    add(trace, 0, YK_LANE_COMPUTE, "update", 7, 8);
    add(trace, 1, YK_LANE_COMPUTE, "backward", 0, 6);
    add(trace, 1, YK_LANE_COMM, "all_reduce", 6, 7);
    add(trace, 1, YK_LANE_COMPUTE, "update", 7, 8);
    assert_ok(yk_trace_breakdown_compute(trace, yk_trace_breakdown_step_length_s(trace), sums));
    expect(&sums[0], 3, 1, 4);
    expect(&sums[1], 7, 1, 0);
    yk_trace_destroy(trace);
}

/* The second of two ops of one name meets the second, not the first; and a receive its send. */
static void messages_of_one_name_meet_in_their_order(void **state)
{
    (void)state;
    struct yk_trace *trace = make(2);
    struct yk_trace_breakdown sums[2];
    add(trace, 0, YK_LANE_COMM, "gather a", 0, 2);
    add(trace, 0, YK_LANE_COMM, "gather a", 2, 8);
    add(trace, 0, YK_LANE_COMM, "send b", 8, 10);
    add(trace, 1, YK_LANE_COMM, "gather a", 1, 2);
    add(trace, 1, YK_LANE_COMM, "gather a", 7, 8);
    add(trace, 1, YK_LANE_COMM, "recv b", 9.5, 10);
    assert_ok(yk_trace_breakdown_compute(trace, 10, sums));
    expect(&sums[0], 0, 1 + 1 + 0.5, 7.5);
    expect(&sums[1], 0, 1 + 1 + 0.5, 7.5);
    yk_trace_destroy(trace);
}

/* Of three ranks' sends and receives one cannot tell who meets whom, nor of ops that never overlap.
 */
static void ops_that_cannot_be_one_message_keep_their_own_times(void **state)
{
    (void)state;
    struct yk_trace *trace = make(3);
    struct yk_trace_breakdown sums[3];
    add(trace, 0, YK_LANE_COMM, "send b", 0, 4);
    add(trace, 1, YK_LANE_COMM, "recv b", 1, 4);
    add(trace, 2, YK_LANE_COMM, "recv b", 3, 4);
    add(trace, 0, YK_LANE_COMM, "all_gather", 5, 6);
    add(trace, 1, YK_LANE_COMM, "all_gather", 8, 9);
    assert_ok(yk_trace_breakdown_compute(trace, 10, sums));
    expect(&sums[0], 0, 5, 5);
    expect(&sums[1], 0, 4, 6);
    expect(&sums[2], 0, 1, 9);
    yk_trace_destroy(trace);
}

static void ops_that_overlap_are_counted_once(void **state)
{
    (void)state;
    struct yk_trace *trace = make(1);
    struct yk_trace_breakdown breakdown;
    add(trace, 0, YK_LANE_COMPUTE, "a", 0, 3);
    add(trace, 0, YK_LANE_COMPUTE, "b", 2, 4);
    add(trace, 0, YK_LANE_COMM, "c", 0, 25);
    assert_ok(yk_trace_breakdown_compute(trace, 10, &breakdown));
    expect(&breakdown, 4, 6, 0);
    yk_trace_destroy(trace);
}

static void a_trace_of_nothing_sums_to_nothing(void **state)
{
    (void)state;
    struct yk_trace *trace = make(1);
    struct yk_trace_breakdown breakdown;
    assert_true(yk_trace_breakdown_step_length_s(trace) == 0);
    assert_true(yk_trace_breakdown_first_event_start_s(trace) == 0);
    assert_ok(yk_trace_breakdown_compute(trace, 0, &breakdown));
    expect(&breakdown, 0, 0, 0);
    assert_ok(yk_trace_breakdown_compute(trace, 2, &breakdown));
    expect(&breakdown, 0, 0, 2);
    add(trace, 0, YK_LANE_COMM, "c", 1, 3);
    assert_true(yk_trace_breakdown_step_length_s(trace) == 3);
    yk_trace_destroy(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_hidden_is_not_exposed_and_all_adds_up),
        cmocka_unit_test(what_leaves_the_step_is_counted_in_the_next),
        cmocka_unit_test(waiting_for_another_rank_is_idle),
        cmocka_unit_test(messages_of_one_name_meet_in_their_order),
        cmocka_unit_test(ops_that_cannot_be_one_message_keep_their_own_times),
        cmocka_unit_test(ops_that_overlap_are_counted_once),
        cmocka_unit_test(a_trace_of_nothing_sums_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
