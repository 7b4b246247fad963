#include "support/support.h"

#include "measure/slowdown/slowdown.h"

#include <math.h>

/* 10 s of work alone took from 0 to 14, messages from 2 to 10: 8 s together, in which the 10 - 6 s
 * that were left to do took twice as long. */
static void computation_took_what_was_left_to_do(void **state)
{
    (void)state;
    const struct yk_slowdown_interval compute = {0, 14};
    const struct yk_slowdown_interval messages = {2, 10};
    assert_true(fabs(yk_slowdown_of_overlapped_compute(compute, 10, messages) - 2) < 1e-12);
}

static void messages_that_outlast_computation_count_up_to_its_end(void **state)
{
    (void)state;
    const struct yk_slowdown_interval compute = {0, 15};
    const struct yk_slowdown_interval messages = {0, 40};
    assert_true(fabs(yk_slowdown_of_overlapped_compute(compute, 10, messages) - 1.5) < 1e-12);
}

static void computation_is_never_said_to_be_faster(void **state)
{
    (void)state;
    const struct yk_slowdown_interval compute = {0, 9};
    const struct yk_slowdown_interval messages = {0, 9};
    assert_true(yk_slowdown_of_overlapped_compute(compute, 10, messages) == 1);
}

static void what_hardly_met_says_nothing(void **state)
{
    (void)state;
    const struct yk_slowdown_interval compute = {0, 10};
    const struct yk_slowdown_interval messages = {9.5, 20};
    assert_true(isnan(yk_slowdown_of_overlapped_compute(compute, 10, messages)));
}

static void messages_within_computation_alone_count(void **state)
{
    (void)state;
    static const double begin_s[] = {0.5, 2, 5, 9};
    static const double end_s[] = {2, 5, 9, 10};
    const struct yk_slowdown_interval compute = {1, 9.5};
    assert_true(fabs(yk_slowdown_mean_overlapped_message_s(compute, begin_s, end_s, 4) - 3.5) <
                1e-12);
    const struct yk_slowdown_interval brief = {3, 4};
    assert_true(isnan(yk_slowdown_mean_overlapped_message_s(brief, begin_s, end_s, 4)));
}

/* Messages from 2 to 6: they meet the ops from 1 to 3 and from 3 to 7, but not those before and
 * after, nor what is loaded meanwhile. */
static void ops_that_met_messages_are_found(void **state)
{
    (void)state;
    struct yk_op ops[] = {
        {.lane = YK_LANE_COMPUTE}, {.lane = YK_LANE_COMPUTE}, {.lane = YK_LANE_COPY},
        {.lane = YK_LANE_COMPUTE}, {.lane = YK_LANE_COPY},    {.lane = YK_LANE_COMPUTE},
    };
    static const double begin_s[] = {0, 1, 1, 3, 4, 7};
    static const double end_s[] = {1, 3, 5, 7, 5, 9};
    const struct yk_op_list list = {.ops = ops, .op_count = 6};
    int32_t first = -1;
    int32_t last = -1;
    assert_true(yk_slowdown_find_overlapped_ops(
        &list, begin_s, end_s, (struct yk_slowdown_interval){2, 6}, &first, &last));
    assert_int_equal(first, 1);
    assert_int_equal(last, 3);
    assert_false(yk_slowdown_find_overlapped_ops(
        &list, begin_s, end_s, (struct yk_slowdown_interval){9, 12}, &first, &last));
}

static void messages_that_overlap_the_end_of_a_step_do_not_count(void **state)
{
    (void)state;
    assert_true(yk_slowdown_is_overlap_long_enough(10, 10));
    assert_true(yk_slowdown_is_overlap_long_enough(2.5, 10));
    assert_false(yk_slowdown_is_overlap_long_enough(2.4, 10));
    assert_false(yk_slowdown_is_overlap_long_enough(NAN, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_overlap_the_end_of_a_step_do_not_count),
        cmocka_unit_test(computation_took_what_was_left_to_do),
        cmocka_unit_test(messages_that_outlast_computation_count_up_to_its_end),
        cmocka_unit_test(computation_is_never_said_to_be_faster),
        cmocka_unit_test(what_hardly_met_says_nothing),
        cmocka_unit_test(messages_within_computation_alone_count),
        cmocka_unit_test(ops_that_met_messages_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
