#include "support/support.h"

#include "measure/counters/counter_sampler.h"
#include "measure/counters/cpu_counters.h"

#include <math.h>
#include <string.h>

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-12 * fabs(expected));
}

static void a_cpu_always_reports_time_and_memory(void **state)
{
    (void)state;
    struct yk_counter_sampler *sampler = NULL;
    assert_ok(
        yk_counter_sampler_open(&(struct yk_counter_sampler_options){.period_s = 0.5}, &sampler));
    assert_near(yk_counter_sampler_period_s(sampler), 0.5);
    yk_counter_sampler_poll(sampler, 1);
    volatile unsigned work = 1;
    for (int i = 0; i < 1000000; i++) {
        work = work * 3 + 1;
    }
    yk_counter_sampler_poll(sampler, 2);
    const struct yk_counter_reading *readings = NULL;
    int32_t count = 0;
    yk_counter_sampler_get_readings(sampler, &readings, &count);
    assert_int_equal(count, 1);
    const double *values = readings[0].values;
    assert_true(values[YK_COUNTER_CORES] > 0);
    assert_true(values[YK_COUNTER_MEMORY] > 1e5);
    assert_true(isnan(values[YK_COUNTER_INSTRUCTIONS]) || values[YK_COUNTER_INSTRUCTIONS] > 2e6);
    assert_true(isnan(values[YK_COUNTER_SM]));
    struct yk_text text = {0};
    yk_counter_sampler_describe(sampler, &text);
    assert_non_null(strstr(yk_text_chars(&text), " every 500 ms"));
    yk_text_free(&text);
    yk_counter_sampler_close(sampler);
    yk_counter_sampler_close(NULL);
}

static void a_counter_that_shared_its_place_is_scaled(void **state)
{
    (void)state;
    const struct yk_cpu_counters_perf_count before = {
        .value = 1000, .enabled_ns = 50, .running_ns = 40};
    const struct yk_cpu_counters_perf_count shared = {
        .value = 1300, .enabled_ns = 90, .running_ns = 50};
    const struct yk_cpu_counters_perf_count waited = {
        .value = 1000, .enabled_ns = 90, .running_ns = 40};
    assert_near(yk_cpu_counters_scaled_difference(&before, &shared), 1200); /* 300 in 10 of 40 ns */
    assert_true(isnan(yk_cpu_counters_scaled_difference(&before, &waited)));
    assert_near(yk_cpu_counters_scaled_difference(&before, &before), 0); /* the thread slept */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cpu_always_reports_time_and_memory),
        cmocka_unit_test(a_counter_that_shared_its_place_is_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
