#include "support/support.h"

#include "cost/cost.h"

#include <math.h>

static const struct yk_cost_time_estimate measured = {1, YK_COST_ORIGIN_MEASURED, 0.03};
static const struct yk_cost_time_estimate interpolated = {1, YK_COST_ORIGIN_INTERPOLATED, 0.07};
static const struct yk_cost_time_estimate estimated = {1, YK_COST_ORIGIN_DATASHEET, 0.29};

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-12)) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static void assert_says(const struct yk_error_band *band, const char *expected)
{
    struct yk_text said = {0};
    yk_error_band_describe_origins(band, &said);
    assert_string_equal(yk_text_chars(&said), expected);
    yk_text_free(&said);
}

static void errors_are_the_mean_over_time(void **state)
{
    (void)state;
    struct yk_error_band band = {0};
    assert_near(yk_error_band_relative_error(&band), 0);
    yk_error_band_add_time(&band, &measured, 2);
    yk_error_band_add_time(&band, &measured, 4);
    assert_near(yk_error_band_relative_error(&band),
                0.03); /* twelve layers are no surer than one */
    yk_error_band_add_time(&band, &interpolated, 3);
    yk_error_band_add_time(&band, &estimated, 1);
    assert_near(yk_error_band_relative_error(&band), (6 * 0.03 + 3 * 0.07 + 0.29) / 10);
    assert_near(yk_error_band_origin_fraction(&band, YK_COST_ORIGIN_INTERPOLATED), 0.3);
    assert_near(yk_error_band_origin_fraction(&band, YK_COST_ORIGIN_CLUSTER_FILE), 0);
}

static void parts_are_said_where_there_are_several(void **state)
{
    (void)state;
    struct yk_error_band band = {0};
    assert_says(&band, "");
    yk_error_band_add_time(&band, &measured, 750);
    assert_says(&band, "measured on this machine");
    yk_error_band_add_time(&band, &estimated, 1);
    assert_says(&band, "measured on this machine");
    yk_error_band_add_time(&band, &interpolated, 229);
    yk_error_band_add_time(&band, &estimated, 20);
    assert_says(&band, "measured on this machine (75 % of the time); interpolated from what was "
                       "measured on this machine (23 % of the time); datasheet with fitted "
                       "efficiency, half within 12 %, nine tenths within 29 % (2 % of the time)");
}

static void json_has_the_error_and_the_parts(void **state)
{
    (void)state;
    struct yk_error_band band = {0};
    struct yk_text written = {0};
    yk_error_band_add_time(&band, &measured, 3);
    yk_error_band_add_time(&band, &estimated, 1);
    yk_error_band_write_json_members(&band, &written);
    assert_string_equal(yk_text_chars(&written),
                        ",\"error\":0.095,\"origins\":{\"measured\":0.75,\"datasheet\":0.25}");
    yk_text_free(&written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_the_mean_over_time),
        cmocka_unit_test(parts_are_said_where_there_are_several),
        cmocka_unit_test(json_has_the_error_and_the_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
