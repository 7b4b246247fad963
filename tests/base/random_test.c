/* Expected values come from an implementation in Python written from the definitions of
 * xoshiro256** and splitmix64 (Blackman and Vigna, prng.di.unimi.it). */
#include "support/support.h"

#include "base/random.h"

static void the_generator_is_xoshiro256_starstar(void **state)
{
    (void)state;
    struct yk_random random = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {
        11520u, 0u, 1509978240u, 1215971899390074240u, 1216172134540287360u, 607988272756665600u,
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(yk_random_next_uint64(&random) == expected[i]);
    }
}

static void a_seed_is_spread_by_splitmix64(void **state)
{
    (void)state;
    const struct yk_random random = yk_random_from_seed(0);
    assert_true(random.state[0] == 0xe220a8397b1dcdafu);
    assert_true(random.state[1] == 0x6e789e6aa1b965f4u);
    assert_true(random.state[2] == 0x06c45d188009454fu);
    assert_true(random.state[3] == 0xf88bb8a8724c81ecu);
}

static void one_seed_gives_one_sequence(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(42);
    assert_true(yk_random_next_uint64(&random) == 0x15780b2e0c2ec716u);
    assert_true(yk_random_next_uint64(&random) == 0x6104d9866d113a7eu);
    assert_true(yk_random_next_uint64(&random) == 0xae17533239e499a1u);
    assert_true(yk_random_next_uint64(&random) == 0xecb8ad4703b360a1u);
}

static void units_are_the_upper_53_bits(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(42);
    assert_true(yk_random_uniform(&random) == 0.08386297105988216);
    assert_true(yk_random_uniform(&random) == 0.3789802506626686);
    assert_true(yk_random_uniform(&random) == 0.6800434110281394);
}

static void integers_stay_below_their_bound(void **state)
{
    (void)state;
    static const int64_t expected[] = {4, 4, 8, 4, 4, 1, 6, 6, 8, 9, 3, 6};
    struct yk_random random = yk_random_from_seed(7);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(yk_random_below(&random, 10), expected[i]);
    }
    for (int i = 0; i < 1000; i++) {
        const int64_t value = yk_random_below(&random, INT64_MAX);
        assert_true(value >= 0 && value < INT64_MAX);
        assert_int_equal(yk_random_below(&random, 1), 0);
    }
}

/* With 60000 draws of 6, each count has mean 10000 and a standard deviation of 91. */
static void integers_are_equally_likely(void **state)
{
    (void)state;
    int counts[6] = {0};
    struct yk_random random = yk_random_from_seed(1);
    for (int i = 0; i < 60000; i++) {
        counts[yk_random_below(&random, 6)]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_in_range(counts[i], 9500, 10500);
    }
}

/* The mean of 100000 draws has a standard deviation of 0.003; a draw is above 1 with probability
 * 1/e = 0.3679, and above 3 with 0.0498. */
static void exponential_numbers_have_their_mean_and_tail(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(1);
    double sum = 0;
    int above_one = 0;
    int above_three = 0;
    for (int i = 0; i < 100000; i++) {
        const double value = yk_random_exponential(&random);
        assert_true(value >= 0);
        sum += value;
        above_one += value > 1;
        above_three += value > 3;
    }
    assert_true(sum > 98500 && sum < 101500);
    assert_in_range(above_one, 36000, 37600);
    assert_in_range(above_three, 4640, 5320);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_xoshiro256_starstar),
        cmocka_unit_test(a_seed_is_spread_by_splitmix64),
        cmocka_unit_test(one_seed_gives_one_sequence),
        cmocka_unit_test(units_are_the_upper_53_bits),
        cmocka_unit_test(integers_stay_below_their_bound),
        cmocka_unit_test(integers_are_equally_likely),
        cmocka_unit_test(exponential_numbers_have_their_mean_and_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
