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
    const struct yk_profile_measurement made = yk_timings_summarise(&timings, "test");
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
    assert_true(yk_timings_median(seconds, 4) == 3.5);
}

/* Of 1 to 8 the quartiles are 3 and 6, the median 4.5. */
static void the_spread_is_half_of_what_lies_between_the_quartiles(void **state)
{
    (void)state;
    static const double seconds[] = {8, 1, 7, 2, 6, 3, 5, 4};
    struct yk_timings timings = {0};
    add_all(&timings, seconds, 8);
    const struct yk_profile_measurement made = yk_timings_summarise(&timings, "test");
    assert_true(fabs(made.spread - 1.5 / 4.5) < 1e-12);
    yk_timings_free(&timings);
}

static void nothing_has_no_median(void **state)
{
    (void)state;
    struct yk_timings timings = {0};
    const struct yk_profile_measurement made = yk_timings_summarise(&timings, "test");
    assert_true(isnan(made.value));
    assert_int_equal(made.samples, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spike_does_not_move_the_median),
        cmocka_unit_test(of_an_even_number_the_two_in_the_middle_count),
        cmocka_unit_test(the_spread_is_half_of_what_lies_between_the_quartiles),
        cmocka_unit_test(nothing_has_no_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
