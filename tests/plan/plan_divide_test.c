#include "plan/plan.h"

#include "base/random.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST = 9
};

static void exact_proportions_stay_exact(void **state)
{
    (void)state;
    const double speeds[] = {4, 1, 1, 0};
    int64_t shares[4];
    yk_plan_divide_batch(speeds, 4, 48, shares);
    assert_int_equal(shares[0], 32);
    assert_int_equal(shares[1], 8);
    assert_int_equal(shares[2], 8);
    assert_int_equal(shares[3], 0);
}

static void what_is_left_over_goes_to_the_largest_remainders(void **state)
{
    (void)state;
    /* 10 samples at 3 : 2 : 2 are 4.29, 2.86, 2.86. */
    const double speeds[] = {3, 2, 2};
    int64_t shares[3];
    yk_plan_divide_batch(speeds, 3, 10, shares);
    assert_int_equal(shares[0], 4);
    assert_int_equal(shares[1], 3);
    assert_int_equal(shares[2], 3);
}

static void a_slow_rank_keeps_one_sample(void **state)
{
    (void)state;
    const double speeds[] = {100, 1, 100};
    int64_t shares[3];
    yk_plan_divide_batch(speeds, 3, 8, shares);
    assert_int_equal(shares[1], 1);
    assert_int_equal(shares[0] + shares[2], 7);
    assert_true(llabs(shares[0] - shares[2]) <= 1);
}

static void any_division_adds_up_and_is_fair(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(3);
    for (int trial = 0; trial < 20000; trial++) {
        double speeds[MOST];
        int64_t shares[MOST];
        double sum = 0;
        int64_t all = 0;
        const int32_t count = 1 + (int32_t)yk_random_below(&random, MOST);
        const int64_t batch = count + yk_random_below(&random, 200);
        for (int32_t i = 0; i < count; i++) {
            speeds[i] =
                i > 0 && yk_random_below(&random, 5) == 0 ? 0 : 0.1 + yk_random_uniform(&random);
            sum += speeds[i];
        }
        yk_plan_divide_batch(speeds, count, batch, shares);
        for (int32_t i = 0; i < count; i++) {
            const double exact = (double)batch * speeds[i] / sum;
            all += shares[i];
            assert_true(speeds[i] > 0 ? shares[i] >= 1 : shares[i] == 0);
            for (int32_t j = 0; j < count; j++) {
                if (speeds[j] >= speeds[i] && shares[j] > 1) {
                    assert_true(shares[j] + 1 >= shares[i]);
                }
            }
            assert_true(exact < 1 || shares[i] <= (int64_t)ceil(exact));
        }
        assert_int_equal(all, batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_proportions_stay_exact),
        cmocka_unit_test(what_is_left_over_goes_to_the_largest_remainders),
        cmocka_unit_test(a_slow_rank_keeps_one_sample),
        cmocka_unit_test(any_division_adds_up_and_is_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
