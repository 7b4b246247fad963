#include "report/plan/equal_ranks.h"

#include "support/reports/example_plan.h"
#include "support/support.h"

static struct yk_equal_ranks_sets folds_of(struct fixture_plan *fixture)
{
    struct yk_equal_ranks_sets sets;
    assert_ok(yk_equal_ranks_find_sets(&fixture->report, fixture->arena, &sets));
    return sets;
}

static void ranks_that_do_the_same_are_one(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 64, .layers = 4};
    struct fixture_plan fixture = fixture_plan_make(&options);
    const struct yk_equal_ranks_sets sets = folds_of(&fixture);
    assert_int_equal(sets.count, 2);
    assert_string_equal(sets.all[0].name, "rtx6000ada \xc3\x97"
                                          "32");
    assert_string_equal(sets.all[0].numbers, "0 to 31");
    assert_int_equal(sets.all[0].count, 32);
    assert_string_equal(sets.all[1].name, "rtx3090 \xc3\x97"
                                          "32");
    assert_string_equal(sets.all[1].numbers, "32 to 63");
    assert_int_equal(sets.all[1].rank, 32);
    fixture_plan_free(&fixture);
}

static void ranks_that_differ_stay_apart(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 64, .layers = 4, .all_different = true};
    struct fixture_plan fixture = fixture_plan_make(&options);
    const struct yk_equal_ranks_sets sets = folds_of(&fixture);
    assert_int_equal(sets.count, 64);
    assert_string_equal(sets.all[63].name, "gpu63 rtx3090");
    fixture_plan_free(&fixture);
}

/* One of four equal ranks gets something of its own; the other three stay together. */
static void expect_one_set_apart(void (*change)(struct fixture_plan *fixture))
{
    const struct fixture_plan_options options = {.ranks = 7, .layers = 4};
    struct fixture_plan fixture = fixture_plan_make(&options);
    assert_int_equal(folds_of(&fixture).count, 2);
    change(&fixture);
    const struct yk_equal_ranks_sets sets = folds_of(&fixture);
    assert_int_equal(sets.count, 3);
    assert_string_equal(sets.all[0].numbers, "0, 2 to 3");
    assert_string_equal(sets.all[0].name, "rtx6000ada \xc3\x97"
                                          "3");
    assert_string_equal(sets.all[1].numbers, "1");
    assert_string_equal(sets.all[1].name, "gpu1 rtx6000ada");
    fixture_plan_free(&fixture);
}

static void change_event(struct fixture_plan *fixture)
{
    const struct yk_trace_event event = {
        .rank = 1, .lane = YK_LANE_COPY, .op = "load", .start_s = 0.1, .end_s = 0.1};
    assert_ok(yk_trace_add_event(fixture->trace, &event, NULL));
}

static void change_share(struct fixture_plan *fixture)
{
    fixture->plan->groups[0].members[1].share++;
}

static void change_limit(struct fixture_plan *fixture)
{
    fixture->plan->ranks[1].limit_bytes -= 1;
}

static void change_moment(struct fixture_plan *fixture)
{
    fixture->ranks[1].moment_count--;
}

static void change_idle(struct fixture_plan *fixture)
{
    fixture->ranks[1].idle_s += 0.001;
}

static void any_difference_sets_a_rank_apart(void **state)
{
    (void)state;
    expect_one_set_apart(change_event);
    expect_one_set_apart(change_share);
    expect_one_set_apart(change_limit);
    expect_one_set_apart(change_moment);
    expect_one_set_apart(change_idle);
}

/* Sums of a simulation round differently; half the last digit of a double is no difference. */
static void rounding_is_no_difference(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 4, .layers = 4};
    struct fixture_plan fixture = fixture_plan_make(&options);
    fixture.ranks[1].compute_s *= 1 + 1e-15;
    assert_int_equal(folds_of(&fixture).count, 2);
    fixture_plan_free(&fixture);
}

static void sets_of_one_name_are_distinguished(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 8, .layers = 1};
    struct fixture_plan fixture = fixture_plan_make(&options);
    fixture.plan->ranks[0].limit_bytes -= 1;
    fixture.plan->ranks[1].limit_bytes -= 1;
    const struct yk_equal_ranks_sets sets = folds_of(&fixture);
    assert_int_equal(sets.count, 3);
    assert_string_equal(sets.all[0].name, "rtx6000ada \xc3\x97"
                                          "2 (0 to 1)");
    assert_string_equal(sets.all[1].name, "rtx6000ada \xc3\x97"
                                          "2 (2 to 3)");
    fixture_plan_free(&fixture);
}

static void events_of_a_lane_are_in_order(void **state)
{
    (void)state;
    const struct fixture_plan_options options = {.ranks = 1, .layers = 2};
    struct fixture_plan fixture = fixture_plan_make(&options);
    const struct yk_trace_event late = {
        .rank = 0, .lane = YK_LANE_COMPUTE, .op = "late", .start_s = 5, .end_s = 6};
    const struct yk_trace_event early = {
        .rank = 0, .lane = YK_LANE_COMPUTE, .op = "early", .start_s = 0, .end_s = 0};
    assert_ok(yk_trace_add_event(fixture.trace, &late, NULL));
    assert_ok(yk_trace_add_event(fixture.trace, &early, NULL));
    const struct yk_equal_ranks_sets sets = folds_of(&fixture);
    const struct yk_time_chart_row *lane = &sets.all[0].lanes[YK_LANE_COMPUTE];
    assert_int_equal(lane->count, 9);
    assert_string_equal(lane->bars[0].label, "early");
    assert_string_equal(lane->bars[1].label, "forward layer 0");
    assert_string_equal(lane->bars[8].label, "late");
    assert_true(sets.span_s == 6);
    fixture_plan_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_do_the_same_are_one),
        cmocka_unit_test(ranks_that_differ_stay_apart),
        cmocka_unit_test(any_difference_sets_a_rank_apart),
        cmocka_unit_test(rounding_is_no_difference),
        cmocka_unit_test(sets_of_one_name_are_distinguished),
        cmocka_unit_test(events_of_a_lane_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
