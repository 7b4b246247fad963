#include "support/support.h"

#include "data/sampler.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX = 5000
};

static void assert_bijection(uint64_t key, int64_t count)
{
    static bool visited[MAX];
    memset(visited, 0, sizeof visited);
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = yk_sampler_permuted_index(key, count, i);
        assert_in_range(number, 0, count - 1);
        assert_false(visited[number]);
        visited[number] = true;
    }
}

static void every_number_comes_exactly_once(void **state)
{
    (void)state;
    for (int64_t count = 1; count <= 300; count++) {
        assert_bijection((uint64_t)count * 7, count);
    }
    static const int64_t sizes[] = {1000, 1023, 1024, 1025, 4095, 4096, 4097, MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_bijection(0, sizes[i]);
        assert_bijection(UINT64_MAX, sizes[i]);
    }
}

/* Of a random order of n, one number on average stays in its place, and neighbours follow each
 * other about once; 20 would be a chance of less than 10^-17. */
static void the_order_looks_random(void **state)
{
    (void)state;
    for (uint64_t key = 0; key < 20; key++) {
        int fixed = 0;
        int followed = 0;
        for (int64_t i = 0; i < MAX; i++) {
            const int64_t number = yk_sampler_permuted_index(key, MAX, i);
            fixed += number == i;
            followed += i + 1 < MAX && yk_sampler_permuted_index(key, MAX, i + 1) == number + 1;
        }
        assert_true(fixed < 20);
        assert_true(followed < 20);
    }
}

/* Each of 8 numbers should stand at each of 8 places in 1/8 of 8000 orders: 1000, give or take six
 * standard deviations of 30. */
static void no_number_prefers_a_place(void **state)
{
    (void)state;
    int counts[8][8] = {{0}};
    for (uint64_t key = 0; key < 8000; key++) {
        for (int64_t i = 0; i < 8; i++) {
            counts[i][yk_sampler_permuted_index(yk_sampler_hash_seed_and_number(1, key), 8, i)]++;
        }
    }
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            assert_in_range(counts[i][j], 820, 1180);
        }
    }
}

static void different_keys_give_different_orders(void **state)
{
    (void)state;
    int same = 0;
    for (int64_t i = 0; i < MAX; i++) {
        same += yk_sampler_permuted_index(1, MAX, i) == yk_sampler_permuted_index(2, MAX, i);
    }
    assert_true(same < 20);
}

static void very_large_counts_work(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 1000; i++) {
        assert_true(yk_sampler_permuted_index(3, INT64_MAX, INT64_MAX - 1 - i) >= 0);
        const int64_t number = yk_sampler_permuted_index(3, (INT64_C(1) << 62) + 1, i);
        assert_true(number >= 0 && number <= INT64_C(1) << 62);
    }
}

/* Resumed runs depend on it: computed apart from this code, in Python. */
static void orders_never_change(void **state)
{
    (void)state;
    static const int64_t expected[10] = {4, 8, 7, 2, 0, 3, 1, 5, 6, 9};
    for (int64_t i = 0; i < 10; i++) {
        assert_int_equal(yk_sampler_permuted_index(42, 10, i), expected[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_exactly_once),
        cmocka_unit_test(the_order_looks_random),
        cmocka_unit_test(no_number_prefers_a_place),
        cmocka_unit_test(different_keys_give_different_orders),
        cmocka_unit_test(very_large_counts_work),
        cmocka_unit_test(orders_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
