#include "planner/search/plan_evaluation.h"

#include "base/random.h"
#include "support/support.h"

#include <math.h>

enum {
    RANKS = 4,
    GRID = 24, /* parts of the brute force are multiples of 1 / GRID */
};

/* The least largest of `count` numbers of grains that add up to `left`, each at most its room. */
static int64_t min_largest(int32_t count, const int64_t *rooms, int64_t left)
{
    if (count == 0) {
        return left == 0 ? 0 : INT64_MAX;
    }
    int64_t best = INT64_MAX;
    for (int64_t grains = 0; grains <= rooms[0] && grains <= left; grains++) {
        const int64_t rest = min_largest(count - 1, rooms + 1, left - grains);
        const int64_t largest = rest > grains ? rest : grains;
        best = largest < best ? largest : best;
    }
    return best;
}

/* Rooms that are whole grains: the best on the grid is at most a grain above the best of all, and
 * never below it. */
static void the_largest_part_is_as_small_as_brute_force_finds(void **state)
{
    (void)state;
    int refused = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        const int32_t count = 1 + (int32_t)yk_random_below(&random, RANKS);
        const double grain = 1 + (double)yk_random_below(&random, 1000);
        int64_t rooms[RANKS] = {0};
        double room_bytes[RANKS];
        double parts[RANKS];
        for (int32_t i = 0; i < count; i++) {
            rooms[i] = yk_random_below(&random, GRID + 6);
            room_bytes[i] = (double)rooms[i] * grain;
        }
        const int64_t best = min_largest(count, rooms, GRID);
        const yk_status status = yk_shard_fractions_find(count, GRID * grain, room_bytes, parts);
        if (best == INT64_MAX) {
            assert_int_equal(status, YK_ERROR_NO_FIT);
            refused++;
            continue;
        }
        assert_ok(status);
        double sum = 0;
        double largest = 0;
        for (int32_t i = 0; i < count; i++) {
            sum += parts[i];
            largest = fmax(largest, parts[i]);
            assert_true(parts[i] >= 0);
            assert_true(parts[i] * GRID * grain <= room_bytes[i] * (1 + 1e-12));
        }
        assert_true(fabs(sum - 1) < 1e-12);
        assert_true(largest <= (double)best / GRID + 1e-12);
        assert_true(largest > (double)(best - 1) / GRID);
    }
    assert_in_range(refused, 100, 1500);
}

static void ranks_with_enough_room_keep_equal_parts(void **state)
{
    (void)state;
    static const double room_bytes[] = {400, 300, INFINITY, 250};
    double parts[RANKS];
    assert_ok(yk_shard_fractions_find(RANKS, 1000, room_bytes, parts));
    for (int i = 0; i < RANKS; i++) {
        assert_true(parts[i] == 0.25);
    }
}

/* 100 bytes: the second keeps its 10, the fourth its 20, the others share the 70 that are left. */
static void the_others_make_up_for_a_small_room(void **state)
{
    (void)state;
    static const double room_bytes[] = {50, 10, 50, 20};
    static const double expected[] = {0.35, 0.1, 0.35, 0.2};
    double parts[RANKS];
    assert_ok(yk_shard_fractions_find(RANKS, 100, room_bytes, parts));
    for (int i = 0; i < RANKS; i++) {
        assert_true(fabs(parts[i] - expected[i]) < 1e-15);
    }
}

static void a_rank_with_no_room_keeps_nothing(void **state)
{
    (void)state;
    static const double room_bytes[] = {-5, 100, 100};
    double parts[3];
    assert_ok(yk_shard_fractions_find(3, 100, room_bytes, parts));
    assert_true(parts[0] == 0);
    assert_true(parts[1] == 0.5);
    assert_true(parts[2] == 0.5);
}

static void no_state_is_kept_equally(void **state)
{
    (void)state;
    static const double room_bytes[] = {0, 100};
    double parts[2];
    assert_ok(yk_shard_fractions_find(2, 0, room_bytes, parts));
    assert_true(parts[0] == 0.5);
    assert_true(parts[1] == 0.5);
}

static void too_little_room_gives_parts_in_proportion(void **state)
{
    (void)state;
    static const double room_bytes[] = {1073741824, -1, 3221225472};
    static const double nothing[] = {0, -1, 0};
    double parts[3];
    assert_fails(yk_shard_fractions_find(3, 8589934592, room_bytes, parts), YK_ERROR_NO_FIT,
                 "8GiB of sharded state do not fit into the 4GiB that are left for it; recompute, "
                 "take fewer samples or more devices");
    assert_true(parts[0] == 0.25);
    assert_true(parts[1] == 0);
    assert_true(parts[2] == 0.75);
    assert_int_equal(yk_shard_fractions_find(3, 8589934592, nothing, parts), YK_ERROR_NO_FIT);
    for (int i = 0; i < 3; i++) {
        assert_true(parts[i] == 1.0 / 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_part_is_as_small_as_brute_force_finds),
        cmocka_unit_test(ranks_with_enough_room_keep_equal_parts),
        cmocka_unit_test(the_others_make_up_for_a_small_room),
        cmocka_unit_test(a_rank_with_no_room_keeps_nothing),
        cmocka_unit_test(no_state_is_kept_equally),
        cmocka_unit_test(too_little_room_gives_parts_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
