/* The tree of steps against an array with one entry for each moment. */
#include "sched/timeline/device_memory_timeline.h"

#include "base/random.h"
#include "support/support.h"

enum {
    MOMENTS = 120,
    SPANS = 200,
    DEVICE = 1
};

/* One past the last moment of [from, until) above the limit; steps reach beyond single moments. */
static int64_t clear_after(const int64_t *held, int64_t from, int64_t until, int64_t limit)
{
    for (int64_t t = (until < MOMENTS ? until : MOMENTS) - 1; t >= from; t--) {
        if (held[t] > limit) {
            return t + 1;
        }
    }
    return -1;
}

static void answers_as_an_array_of_moments_does(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct yk_arena *arena = NULL;
        struct yk_device_memory_timeline *usage = NULL;
        int64_t held[MOMENTS] = {0};
        assert_ok(yk_arena_create(&arena));
        assert_ok(yk_device_memory_timeline_create(arena, DEVICE + 1, 2 * SPANS, &usage));
        for (int i = 0; i < SPANS; i++) {
            const int64_t from = yk_random_below(&random, MOMENTS);
            const bool forever = yk_random_below(&random, 5) == 0;
            const int64_t until = forever ? YK_DEVICE_MEMORY_TIMELINE_FOREVER
                                          : from + yk_random_below(&random, MOMENTS - from);
            const int64_t bytes = yk_random_below(&random, 21) - 8;
            yk_device_memory_timeline_add_bytes(usage, DEVICE, from, until, bytes);
            for (int64_t t = from; t < until && t < MOMENTS; t++) {
                held[t] += bytes;
            }
            const int64_t a = yk_random_below(&random, MOMENTS);
            const int64_t b = a + yk_random_below(&random, MOMENTS - a);
            const int64_t limit = yk_random_below(&random, 60) - 5;
            const int64_t clear = yk_device_memory_timeline_excess_end(usage, DEVICE, a, b, limit);
            const int64_t expected = clear_after(held, a, b, limit);
            /* The tree gives the end of the step, which may lie beyond the span asked about. */
            assert_true(clear == expected || (clear > expected && expected == b));
        }
        assert_true(yk_device_memory_timeline_excess_end(
                        usage, DEVICE - 1, 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER, 0) == -1);
        yk_arena_destroy(arena);
    }
}

static void a_step_with_no_end_is_never_clear(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_device_memory_timeline *usage = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_device_memory_timeline_create(arena, 1, 4, &usage));
    yk_device_memory_timeline_add_bytes(usage, 0, 10, YK_DEVICE_MEMORY_TIMELINE_FOREVER, 7);
    assert_true(yk_device_memory_timeline_excess_end(usage, 0, 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER,
                                                     6) == YK_DEVICE_MEMORY_TIMELINE_FOREVER);
    assert_true(yk_device_memory_timeline_excess_end(usage, 0, 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER,
                                                     7) == -1);
    yk_device_memory_timeline_clear(usage);
    assert_true(yk_device_memory_timeline_excess_end(usage, 0, 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER,
                                                     0) == -1);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_an_array_of_moments_does),
        cmocka_unit_test(a_step_with_no_end_is_never_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
