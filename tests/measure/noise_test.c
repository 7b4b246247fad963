#include "support/support.h"

#include "measure/profiler/profiler.h"

#include <math.h>

static struct yk_profiler_link_row link_of(double seconds, double spread)
{
    return (struct yk_profiler_link_row){
        .measurement = {.value = seconds, .spread = spread, .samples = 9}};
}

/* Spreads of 1 … 8 %, and two things too short to count: three of four are at 6 % or less. */
static void three_of_four_vary_less(void **state)
{
    (void)state;
    struct yk_profiler_layer_row layers[4];
    struct yk_profiler_link_row links[6];
    for (int i = 0; i < 4; i++) {
        layers[i] = (struct yk_profiler_layer_row){
            .measurement = {.value = 1e-3, .spread = 0.08 - 0.01 * i, .samples = 9}};
        links[i] = link_of(2e-4, 0.04 - 0.01 * i);
    }
    links[4] = link_of(2e-5, 2.5);
    links[5] = link_of(1e-6, 1.5);
    const struct yk_profiler profiler = {
        .layers = layers, .layer_count = 4, .links = links, .link_count = 6};
    assert_true(fabs(yk_profiler_p75_spread(&profiler) - 0.06) < 1e-12);
}

static void nothing_says_nothing(void **state)
{
    (void)state;
    struct yk_profiler_link_row links[] = {link_of(1e-6, 0.5)};
    const struct yk_profiler empty = {0};
    const struct yk_profiler brief = {.links = links, .link_count = 1};
    assert_true(isnan(yk_profiler_p75_spread(&empty)));
    assert_true(isnan(yk_profiler_p75_spread(&brief)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_of_four_vary_less),
        cmocka_unit_test(nothing_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
