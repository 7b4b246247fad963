/* The tree against a plain list of busy times that is searched from the beginning. */
#include "sched/timeline/device_timeline.h"

#include "base/random.h"
#include "support/support.h"

enum {
    TASKS = 300,
    DEVICE = 1
};

struct list {
    int64_t start[TASKS];
    int64_t finish[TASKS];
    int32_t task[TASKS];
    int count;
};

static int64_t first_fit(const struct list *list, int64_t ready, int64_t duration)
{
    int64_t idle_from = 0;
    for (int i = 0; i < list->count; i++) {
        const int64_t start = idle_from > ready ? idle_from : ready;
        if (start + duration <= list->start[i]) {
            return start;
        }
        idle_from = list->finish[i];
    }
    return idle_from > ready ? idle_from : ready;
}

static void insert(struct list *list, int32_t task, int64_t start, int64_t finish)
{
    int place = list->count++;
    while (place > 0 && (list->start[place - 1] > start ||
                         (list->start[place - 1] == start && list->finish[place - 1] > finish))) {
        list->start[place] = list->start[place - 1];
        list->finish[place] = list->finish[place - 1];
        list->task[place] = list->task[place - 1];
        place--;
    }
    list->start[place] = start;
    list->finish[place] = finish;
    list->task[place] = task;
}

static void erase(struct list *list, int place)
{
    for (int i = place; i + 1 < list->count; i++) {
        list->start[i] = list->start[i + 1];
        list->finish[i] = list->finish[i + 1];
        list->task[i] = list->task[i + 1];
    }
    list->count--;
}

static void finds_the_gap_a_walk_along_the_list_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct yk_arena *arena = NULL;
        struct yk_device_timeline *timeline = NULL;
        struct list list = {.count = 0};
        assert_ok(yk_arena_create(&arena));
        assert_ok(yk_device_timeline_create(arena, TASKS, DEVICE + 1, &timeline));
        for (int32_t task = 0; task < TASKS; task++) {
            const int64_t ready = yk_random_below(&random, 2000);
            const int64_t duration = yk_random_below(&random, 12);
            const int64_t found = yk_device_timeline_find_gap(timeline, DEVICE, ready, duration);
            assert_true(found == first_fit(&list, ready, duration));
            yk_device_timeline_add_task(timeline, DEVICE, task, found, found + duration);
            insert(&list, task, found, found + duration);
            if (yk_random_below(&random, 4) == 0) {
                const int place = (int)yk_random_below(&random, list.count);
                yk_device_timeline_remove_task(timeline, DEVICE, list.task[place]);
                erase(&list, place);
            }
            const int64_t end = list.count > 0 ? list.finish[list.count - 1] : 0;
            assert_true(yk_device_timeline_find_gap(timeline, DEVICE, 0, INT64_MAX / 2) == end);
        }
        assert_true(yk_device_timeline_find_gap(timeline, DEVICE - 1, 0, INT64_MAX / 2) == 0);
        yk_arena_destroy(arena);
    }
}

static void knows_which_task_comes_before(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_device_timeline *timeline = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_device_timeline_create(arena, 3, 1, &timeline));
    yk_device_timeline_add_task(timeline, 0, 2, 10, 20);
    yk_device_timeline_add_task(timeline, 0, 0, 30, 40);
    yk_device_timeline_add_task(timeline, 0, 1, 20, 25);
    assert_int_equal(yk_device_timeline_previous_task(timeline, 0, 2), -1);
    assert_int_equal(yk_device_timeline_previous_task(timeline, 0, 1), 2);
    assert_int_equal(yk_device_timeline_previous_task(timeline, 0, 0), 1);
    yk_arena_destroy(arena);
}

static void a_task_of_no_length_fits_between_two_that_touch(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_device_timeline *timeline = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_device_timeline_create(arena, 2, 1, &timeline));
    yk_device_timeline_add_task(timeline, 0, 0, 0, 5);
    yk_device_timeline_add_task(timeline, 0, 1, 5, 9);
    assert_true(yk_device_timeline_find_gap(timeline, 0, 0, 0) == 0);
    assert_true(yk_device_timeline_find_gap(timeline, 0, 2, 0) == 5);
    assert_true(yk_device_timeline_find_gap(timeline, 0, 6, 0) == 9);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_gap_a_walk_along_the_list_finds),
        cmocka_unit_test(knows_which_task_comes_before),
        cmocka_unit_test(a_task_of_no_length_fits_between_two_that_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
