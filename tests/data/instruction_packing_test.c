#include "support/support.h"

#include "base/random.h"
#include "data/instruction_sampler.h"

#include <stdbool.h>

enum {
    MAX = 300
};

static void check_packing(const struct yk_instruction_packing *packing, const int64_t *lengths,
                          int64_t count, int64_t room)
{
    bool visited[MAX] = {false};
    assert_int_equal(packing->starts[0], 0);
    assert_int_equal(packing->starts[packing->windows], count);
    for (int64_t w = 0; w < packing->windows; w++) {
        int64_t used = 0;
        assert_true(packing->starts[w] < packing->starts[w + 1]);
        for (int64_t i = packing->starts[w]; i < packing->starts[w + 1]; i++) {
            const int64_t item = packing->items[i];
            assert_in_range(item, 0, count - 1);
            assert_false(visited[item]);
            visited[item] = true;
            used += lengths[item];
        }
        assert_true(used <= room);
    }
}

/* First-fit decreasing by its definition, with every window looked at; returns how many. */
static int64_t pack_slowly(const int64_t *lengths, int64_t count, int64_t room, int64_t *windows)
{
    int64_t used[MAX] = {0};
    int64_t made = 0;
    for (int64_t length = room; length > 0; length--) {
        for (int64_t i = 0; i < count; i++) {
            int64_t w = 0;
            if (lengths[i] != length) {
                continue;
            }
            while (used[w] + length > room) {
                w++;
            }
            used[w] += length;
            windows[i] = w;
            made = w + 1 > made ? w + 1 : made;
        }
    }
    return made;
}

static void packing_is_first_fit_decreasing(void **state)
{
    (void)state;
    struct yk_random random = yk_random_from_seed(3);
    for (int64_t round = 0; round < 200; round++) {
        int64_t lengths[MAX];
        int64_t windows[MAX];
        struct yk_instruction_packing packing = {0};
        const int64_t count = 1 + yk_random_below(&random, MAX);
        const int64_t room = 1 + yk_random_below(&random, 60);
        for (int64_t i = 0; i < count; i++) {
            lengths[i] = 1 + yk_random_below(&random, room);
        }
        assert_ok(yk_instruction_sampler_pack_windows(lengths, count, room, &packing));
        check_packing(&packing, lengths, count, room);
        assert_int_equal(packing.windows, pack_slowly(lengths, count, room, windows));
        for (int64_t w = 0; w < packing.windows; w++) {
            for (int64_t i = packing.starts[w]; i < packing.starts[w + 1]; i++) {
                assert_int_equal(windows[packing.items[i]], w);
            }
        }
        yk_instruction_sampler_packing_free(&packing);
    }
}

/* 6 + 4, 5 + 5 and 3 + 3 + 2 + 2 of 10: all windows are full. */
static void an_example_by_hand_is_packed_and_nothing_is_wasted(void **state)
{
    (void)state;
    static const int64_t lengths[] = {2, 5, 3, 6, 2, 4, 3, 5};
    static const int64_t items[] = {3, 5, 1, 7, 2, 6, 0, 4};
    static const int64_t starts[] = {0, 2, 4, 8};
    struct yk_instruction_packing packing = {0};
    assert_ok(yk_instruction_sampler_pack_windows(lengths, 8, 10, &packing));
    assert_int_equal(packing.windows, 3);
    assert_memory_equal(packing.items, items, sizeof items);
    assert_memory_equal(packing.starts, starts, sizeof starts);
    yk_instruction_sampler_packing_free(&packing);
    yk_instruction_sampler_packing_free(&packing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_is_first_fit_decreasing),
        cmocka_unit_test(an_example_by_hand_is_packed_and_nothing_is_wasted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
