#include "sched/search/partial_schedule.h"

#include "support/support.h"

static struct yk_visited_states *make(struct yk_arena **arena)
{
    struct yk_visited_states *visited = NULL;
    assert_ok(yk_arena_create(arena));
    assert_ok(yk_visited_states_create(*arena, 3, 2, 1000, &visited));
    return visited;
}

static void a_state_no_earlier_anywhere_is_dominated(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_visited_states *visited = make(&arena);
    const uint16_t key[] = {1, 2, 0};
    assert_false(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){10, 20}, 2));
    assert_true(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){10, 20}, 2));
    assert_true(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){10, 21}, 2));
    assert_true(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){11, 20}, 2));
    yk_arena_destroy(arena);
}

static void a_state_earlier_in_one_time_is_not(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_visited_states *visited = make(&arena);
    const uint16_t key[] = {1, 2, 0};
    assert_false(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){10, 20}, 2));
    assert_false(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){9, 21}, 2));
    assert_false(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){11, 19}, 2));
    /* All three are remembered: each of them dominates something. */
    assert_true(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){9, 22}, 2));
    assert_true(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){12, 19}, 2));
    yk_arena_destroy(arena);
}

static void another_key_is_another_state(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_visited_states *visited = make(&arena);
    for (uint16_t i = 0; i < 200; i++) {
        const uint16_t key[] = {i, 2, (uint16_t)(i % 3)};
        assert_false(yk_visited_states_dominate_or_add(visited, key, (int64_t[]){10, 20}, 2));
    }
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_no_earlier_anywhere_is_dominated),
        cmocka_unit_test(a_state_earlier_in_one_time_is_not),
        cmocka_unit_test(another_key_is_another_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
