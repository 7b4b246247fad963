#include "support/support.h"

#include "cost/curve.h"

#include <math.h>

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static struct yk_curve_estimate at(const struct yk_profile_point *points, int32_t count,
                                   double size)
{
    const struct yk_profile_curve curve = {points, count};
    return yk_curve_interpolate(&curve, size);
}

static void a_curve_is_straight_between_points(void **state)
{
    (void)state;
    const struct yk_profile_point points[] = {{2, 10, 0}, {4, 14, 0}, {8, 16, 0}};
    assert_near(at(points, 3, 3).seconds, 12);
    assert_near(at(points, 3, 5).seconds, 14.5);
    assert_false(at(points, 3, 5).measured);
    for (int32_t i = 0; i < 3; i++) {
        assert_near(at(points, 3, points[i].size).seconds, points[i].seconds);
        assert_true(at(points, 3, points[i].size).measured);
    }
}

/* Launches and work: a + b·size, whichever two sizes were measured. */
static void two_points_determine_a_straight_line(void **state)
{
    (void)state;
    static const double sizes[] = {0.5, 1, 2, 3, 8, 100, 1e4};
    for (int32_t fixed = 0; fixed < 3; fixed++) {
        for (int32_t each = fixed == 0 ? 1 : 0; each < 3; each++) {
            const double a = 1e-5 * fixed;
            const double b = 2e-6 * each;
            const struct yk_profile_point points[] = {{2, a + 2 * b, 0}, {6, a + 6 * b, 0}};
            for (int32_t i = 0; i < 7; i++) {
                assert_near(at(points, 2, sizes[i]).seconds, a + b * sizes[i]);
            }
        }
    }
}

static void beyond_the_ends_more_costs_no_less_and_no_time_is_negative(void **state)
{
    (void)state;
    /* The line through these is below 0 at 1, and that through the next two at 16. */
    const struct yk_profile_point steep[] = {{4, 1, 0}, {8, 3, 0}};
    const struct yk_profile_point falling[] = {{4, 3, 0}, {8, 1, 0}};
    const struct yk_profile_point alone[] = {{4, 3, 0}};
    assert_near(at(steep, 2, 1).seconds, 0.25);
    assert_near(at(steep, 2, 16).seconds, 6);
    assert_near(at(falling, 2, 1).seconds, 3);
    assert_near(at(falling, 2, 16).seconds, 1);
    assert_near(at(alone, 1, 1).seconds, 0.75);
    assert_near(at(alone, 1, 12).seconds, 9);
}

static void a_point_is_off_by_what_it_spreads(void **state)
{
    (void)state;
    const struct yk_profile_point points[] = {{2, 10, 0}, {4, 14, 0.01}};
    assert_near(at(points, 2, 2).error, 0.03);
    assert_true(fabs(at(points, 2, 4).error - (0.03 + 0.0244)) < 1e-4);
}

/* Of normal errors of deviation 1, erf(x / √2) are within x. */
static void nine_tenths_of_normal_errors_are_within_the_error(void **state)
{
    (void)state;
    const double spread = 0.6744897501960817;
    const struct yk_profile_point points[] = {{1, 1, spread}};
    const double error = at(points, 1, 1).error - 0.03;
    assert_true(fabs(erf(spread / sqrt(2)) - 0.5) < 1e-9); /* half, as spreads are defined */
    assert_true(fabs(erf(error / sqrt(2)) - 0.9) < 1e-4);
}

/* Of a parabola through three points, the line is off by exactly what is added for its bend. */
static void the_bend_of_a_curve_is_part_of_the_error(void **state)
{
    (void)state;
    static const double sizes[] = {1.5, 2.5, 3, 3.9, 5, 7.5};
    const double a = 1;
    const double b = 0.25;
    const double c = 0.125;
    struct yk_profile_point points[] = {{2, 0, 0}, {4, 0, 0}, {8, 0, 0}};
    for (int32_t i = 0; i < 3; i++) {
        points[i].seconds = a + b * points[i].size + c * points[i].size * points[i].size;
    }
    for (int32_t i = 0; i < 6; i++) {
        const struct yk_curve_estimate value = at(points, 3, sizes[i]);
        const double real_s = a + b * sizes[i] + c * sizes[i] * sizes[i];
        if (sizes[i] > 2) {
            assert_near(value.error, 0.03 + fabs(value.seconds - real_s) / value.seconds);
        } else {
            assert_true(fabs(value.seconds - real_s) <= value.error * value.seconds);
        }
    }
}

static void with_no_third_point_half_of_what_is_possible_is_added(void **state)
{
    (void)state;
    /* 3 take no less than 2 do (1 s) nor 3/4 of what 4 do (1.125 s), and no more than 4 do (1.5 s)
     * nor 3/2 of what 2 do (1.5 s). */
    const struct yk_profile_point points[] = {{2, 1, 0}, {4, 1.5, 0}};
    assert_near(at(points, 2, 3).seconds, 1.25);
    assert_near(at(points, 2, 3).error, 0.03 + (1.5 - 1.125) / 2 / 1.25);
    /* Twice as many as the only point: 1 to 2 s. */
    assert_near(at(points, 1, 4).error, 0.03 + 0.5 / 2);
}

static void the_error_grows_with_the_distance_and_with_noise(void **state)
{
    (void)state;
    struct yk_profile_point points[] = {{1, 3, 0.02}, {2, 4, 0.02}, {4, 6.1, 0.02}};
    double before = at(points, 3, 4).error;
    for (int32_t size = 5; size < 64; size += 5) {
        const double error = at(points, 3, size).error;
        assert_true(error > before);
        before = error;
    }
    const double steady = at(points, 3, 3).error;
    points[1].spread = 0.2;
    assert_true(at(points, 3, 3).error > steady + 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_is_straight_between_points),
        cmocka_unit_test(two_points_determine_a_straight_line),
        cmocka_unit_test(beyond_the_ends_more_costs_no_less_and_no_time_is_negative),
        cmocka_unit_test(a_point_is_off_by_what_it_spreads),
        cmocka_unit_test(nine_tenths_of_normal_errors_are_within_the_error),
        cmocka_unit_test(the_bend_of_a_curve_is_part_of_the_error),
        cmocka_unit_test(with_no_third_point_half_of_what_is_possible_is_added),
        cmocka_unit_test(the_error_grows_with_the_distance_and_with_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
