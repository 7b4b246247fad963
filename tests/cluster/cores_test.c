#include "support/support.h"

#include "cluster/cores.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A machine of `count` cores in `order`, every `threads` of which are one physical core. */
static struct yk_allowed_cores machine(struct yk_cpu_core *cores, const int32_t *order,
                                       int32_t count, int32_t threads)
{
    for (int32_t i = 0; i < count; i++) {
        cores[i] = (struct yk_cpu_core){.number = order ? order[i] : i, .sibling = i % threads};
    }
    return (struct yk_allowed_cores){.cores = cores, .count = count, .machine_count = count};
}

static void expect(const struct yk_allowed_cores *allowed, struct yk_launcher launcher,
                   const int32_t *threads, const char *words)
{
    struct yk_arena *arena = NULL;
    struct yk_cores_assignment cores;
    struct yk_text text = {0};
    const struct yk_cores_request request = {.launcher = launcher, .threads = threads};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_cores_assign(&request, allowed, arena, &cores));
    yk_cores_describe(&cores, launcher.rank, &text);
    assert_string_equal(yk_text_chars(&text), words);
    yk_text_free(&text);
    yk_arena_destroy(arena);
}

static struct yk_launcher local(int32_t rank, int32_t size)
{
    return (struct yk_launcher){
        .name = "mpirun", .rank = rank, .size = size, .local_rank = rank, .local_size = size};
}

static void ranks_divide_a_machine_that_nobody_divided(void **state)
{
    (void)state;
    struct yk_cpu_core cores[4];
    const struct yk_allowed_cores all = machine(cores, NULL, 4, 1);
    expect(&all, local(0, 2), NULL, "rank 0: compute on cores 0-1, messages on core 1");
    expect(&all, local(1, 2), NULL, "rank 1: compute on cores 2-3, messages on core 3");
    expect(&all, local(0, 1), NULL, "rank 0: compute on cores 0-3, messages on core 3");
    expect(&all, local(2, 3), NULL, "rank 2: compute on cores 2-3, messages on core 3");
}

static void messages_get_a_core_that_threads_leave(void **state)
{
    (void)state;
    struct yk_cpu_core cores[8];
    const struct yk_allowed_cores all = machine(cores, NULL, 8, 1);
    static const int32_t threads[] = {4, 2};
    expect(&all, local(0, 2), threads, "rank 0: compute on cores 0-3, messages on core 4");
    expect(&all, local(1, 2), threads, "rank 1: compute on cores 5-6, messages on core 7");
    static const int32_t one_left[] = {4, 3};
    expect(&all, local(0, 2), one_left, "rank 0: compute on cores 0-3, messages on core 4");
    expect(&all, local(1, 2), one_left, "rank 1: compute on cores 5-7, messages on core 7");
}

static void more_ranks_than_cores_share_them(void **state)
{
    (void)state;
    struct yk_cpu_core cores[2];
    const struct yk_allowed_cores all = machine(cores, NULL, 2, 1);
    expect(&all, local(0, 4), NULL, "rank 0: compute on core 0, messages on core 0");
    expect(&all, local(1, 4), NULL, "rank 1: compute on core 0, messages on core 0");
    expect(&all, local(3, 4), NULL, "rank 3: compute on core 1, messages on core 1");
    static const int32_t threads[] = {2, 2};
    expect(&all, local(1, 2), threads, "rank 1: compute on core 1, messages on core 1");
}

/* Every core belongs to one rank, whatever the numbers. */
static void every_core_has_one_owner(void **state)
{
    (void)state;
    struct yk_cpu_core cores[64];
    for (int32_t count = 1; count <= 64; count += 7) {
        const struct yk_allowed_cores all = machine(cores, NULL, count, 1);
        for (int32_t ranks = 1; ranks <= count; ranks++) {
            struct yk_arena *arena = NULL;
            assert_ok(yk_arena_create(&arena));
            int32_t next = 0;
            for (int32_t rank = 0; rank < ranks; rank++) {
                const struct yk_cores_request request = {.launcher = local(rank, ranks)};
                struct yk_cores_assignment chosen;
                assert_ok(yk_cores_assign(&request, &all, arena, &chosen));
                for (int32_t i = 0; i < chosen.compute_count; i++) {
                    assert_int_equal(chosen.compute[i], next++);
                }
            }
            assert_int_equal(next, count);
            yk_arena_destroy(arena);
        }
    }
}

static void bound_rank_keeps_what_it_was_given(void **state)
{
    (void)state;
    struct yk_cpu_core cores[2];
    static const int32_t order[] = {6, 7};
    struct yk_allowed_cores all = machine(cores, order, 2, 1);
    all.machine_count = 8;
    struct yk_launcher launcher = local(3, 4);
    launcher.is_bound_to_cores = true;
    expect(&all, launcher, NULL, "rank 3: compute on cores 6-7, messages on core 7");
    static const int32_t threads[] = {2, 2, 2, 1};
    expect(&all, launcher, threads, "rank 3: compute on core 6, messages on core 7");
}

static void ranks_that_a_launcher_bound_together_are_not_pinned(void **state)
{
    (void)state;
    struct yk_cpu_core cores[4];
    struct yk_allowed_cores all = machine(cores, NULL, 4, 1);
    all.machine_count = 8;
    struct yk_launcher launcher = local(2, 4);
    launcher.is_bound_to_cores = true;
    expect(&all, launcher, NULL,
           "rank 2: compute on cores 0-3, which the launcher gives to other ranks, too");
}

/* Two threads a core, numbered as Linux does on many machines: 0 and 4 are one. */
static void threads_go_to_physical_cores_first(void **state)
{
    (void)state;
    struct yk_cpu_core cores[8];
    static const int32_t order[] = {0, 4, 1, 5, 2, 6, 3, 7};
    const struct yk_allowed_cores all = machine(cores, order, 8, 2);
    static const int32_t threads[] = {2, 2};
    expect(&all, local(0, 2), threads, "rank 0: compute on cores 0-1, messages on core 5");
    expect(&all, local(1, 2), threads, "rank 1: compute on cores 2-3, messages on core 7");
    expect(&all, local(1, 2), NULL, "rank 1: compute on cores 2-3,6-7, messages on core 7");
}

static int compare(const void *a, const void *b)
{
    return ((const struct yk_cpu_core *)a)->number - ((const struct yk_cpu_core *)b)->number;
}

static void cores_found_are_those_of_the_affinity(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_allowed_cores allowed;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        skip();
    }
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_cores_find_allowed(arena, &allowed));
    assert_int_equal(allowed.count, CPU_COUNT(&set));
    assert_true(allowed.machine_count >= allowed.count);
    qsort(allowed.cores, (size_t)allowed.count, sizeof *allowed.cores, compare);
    for (int32_t i = 0; i < allowed.count; i++) {
        assert_true(CPU_ISSET((size_t)allowed.cores[i].number, &set));
        assert_true(i == 0 || allowed.cores[i].number > allowed.cores[i - 1].number);
    }
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_divide_a_machine_that_nobody_divided),
        cmocka_unit_test(messages_get_a_core_that_threads_leave),
        cmocka_unit_test(more_ranks_than_cores_share_them),
        cmocka_unit_test(every_core_has_one_owner),
        cmocka_unit_test(bound_rank_keeps_what_it_was_given),
        cmocka_unit_test(ranks_that_a_launcher_bound_together_are_not_pinned),
        cmocka_unit_test(threads_go_to_physical_cores_first),
        cmocka_unit_test(cores_found_are_those_of_the_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
