#include "support/support.h"

#include "measure/timings.h"

#include <math.h>

static void add_all(struct yk_timings *timings, const double *seconds, int count)
{
    for (int i = 0; i < count; i++) {
        assert_ok(yk_timings_add(timings, seconds[i]));
    }
}

static void a_spike_does_not_move_the_median(void **state)
{
    (void)state;
    static const double seconds[] = {200e-6, 201e-6, 100e-3, 199e-6, 202e-6, 198e-6, 90e-3};
    struct yk_timings timings = {0};
    add_all(&timings, seconds, 7);
    const struct yk_profile_measurement made = yk_timings_summarize(&timings, "test");
    assert_true(made.value == 201e-6);
    assert_true(made.min == 198e-6 && made.max == 100e-3);
    assert_int_equal(made.samples, 7);
    assert_string_equal(made.versions, "test");
    yk_timings_free(&timings);
}

static void of_an_even_number_the_two_in_the_middle_count(void **state)
{
    (void)state;
    double seconds[] = {4, 1, 3, 10};
    assert_true(yk_timings_median_of_numbers(seconds, 4) == 3.5);
}

/* Of 1 to 8 the quartiles are 3 and 6, the median 4.5. */
static void the_spread_is_half_of_what_lies_between_the_quartiles(void **state)
{
    (void)state;
    static const double seconds[] = {8, 1, 7, 2, 6, 3, 5, 4};
    struct yk_timings timings = {0};
    add_all(&timings, seconds, 8);
    const struct yk_profile_measurement made = yk_timings_summarize(&timings, "test");
    assert_true(fabs(made.spread - 1.5 / 4.5) < 1e-12);
    yk_timings_free(&timings);
}

static void nothing_has_no_median(void **state)
{
    (void)state;
    struct yk_timings timings = {0};
    const struct yk_profile_measurement made = yk_timings_summarize(&timings, "test");
    assert_true(isnan(made.value));
    assert_int_equal(made.samples, 0);
}

/* Four of six rounds had to share their core, one of them a little. */
static void rounds_that_got_less_are_left_out(void **state)
{
    (void)state;
    static const struct yk_timings_cpu_usage rounds[] = {{2, 1.0},  {1.01, 1.0}, {1.5, 1.0},
                                                         {1, 0.99}, {3, 1.1},    {1.1, 1.0}};
    static const bool expected[] = {false, true, false, true, false, false};
    bool chosen[6];
    yk_timings_mark_undisturbed_runs(rounds, 6, 2, chosen);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(chosen[i], expected[i]);
    }
}

static void never_fewer_than_asked_for(void **state)
{
    (void)state;
    static const struct yk_timings_cpu_usage rounds[] = {{2, 1}, {1, 1}, {4, 1}, {1.5, 1}};
    static const bool expected[] = {true, true, false, true};
    bool chosen[4];
    yk_timings_mark_undisturbed_runs(rounds, 4, 3, chosen);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(chosen[i], expected[i]);
    }
    yk_timings_mark_undisturbed_runs(rounds, 2, 3, chosen);
    assert_true(chosen[0] && chosen[1]);
}

/* A rank that waits on purpose gets little, but every time as much. */
static void what_is_always_idle_is_undisturbed(void **state)
{
    (void)state;
    static const struct yk_timings_cpu_usage rounds[] = {{10, 4}, {10.1, 4}, {10, 3.99}};
    bool chosen[3];
    yk_timings_mark_undisturbed_runs(rounds, 3, 1, chosen);
    assert_true(chosen[0] && chosen[1] && chosen[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spike_does_not_move_the_median),
        cmocka_unit_test(of_an_even_number_the_two_in_the_middle_count),
        cmocka_unit_test(the_spread_is_half_of_what_lies_between_the_quartiles),
        cmocka_unit_test(nothing_has_no_median),
        cmocka_unit_test(rounds_that_got_less_are_left_out),
        cmocka_unit_test(never_fewer_than_asked_for),
        cmocka_unit_test(what_is_always_idle_is_undisturbed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
