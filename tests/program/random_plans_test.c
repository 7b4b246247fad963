#include "program/memory/memory.h"
#include "program/program.h"
#include "support/plans/valid_plan.h"
#include "support/programs/dry_run.h"
#include "support/programs/edit_program.h"
#include "support/support.h"

#include <string.h>

static struct yk_program *compile(const struct sound_plan *sound)
{
    struct yk_program *program = NULL;
    assert_ok(yk_program_compile(sound->plan, sound->cluster, sound->cache, &program));
    return program;
}

static void programs_of_random_plans_are_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *program = compile(&sound);
        if (yk_program_check(program) != YK_OK) {
            fail_msg("seed %d: %s", (int)seed, yk_status_message());
        }
        yk_program_destroy(program);
        sound_plan_free(&sound);
    }
}

static void they_run_well_in_any_order_of_events(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *program = compile(&sound);
        const char *wrong = pretend_run(program, seed);
        if (wrong) {
            fail_msg("seed %d: %s", (int)seed, wrong);
        }
        yk_program_destroy(program);
        sound_plan_free(&sound);
    }
}

static void shuffled_ones_are_valid_and_run_well(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *program = compile(&sound);
        struct yk_program *shuffled = NULL;
        assert_ok(yk_program_shuffle(program, seed, &shuffled));
        assert_ok(yk_program_check(shuffled));
        const char *wrong = seed % 5 == 0 ? pretend_run(shuffled, seed) : NULL;
        if (wrong) {
            fail_msg("seed %d: %s", (int)seed, wrong);
        }
        yk_program_destroy(shuffled);
        yk_program_destroy(program);
        sound_plan_free(&sound);
    }
}

static double peak_of(const struct yk_program *program, int32_t rank)
{
    struct yk_arena *arena = NULL;
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_program_memory_count_for_rank(program, rank, arena, &memory));
    assert_ok(yk_program_memory_find_peak(program, rank, memory, &peak));
    yk_arena_destroy(arena);
    return peak.bytes;
}

/* Limits around what was needed without one: what compiles into the limit passes, and what is
 * refused really needs more. */
static void a_program_fits_its_limit_or_is_refused(void **state)
{
    (void)state;
    int fits = 0;
    int refused = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *free_program = compile(&sound);
        for (int32_t r = 0; r < sound.plan->rank_count; r++) {
            const double spare = 6000 * (yk_random_uniform(&random) - 0.8);
            sound.plan->ranks[r].limit_bytes = peak_of(free_program, r) + spare;
        }
        struct yk_program *program = compile(&sound);
        const yk_status status = yk_program_check(program);
        bool over = false;
        for (int32_t r = 0; r < sound.plan->rank_count; r++) {
            over = over || peak_of(program, r) > sound.plan->ranks[r].limit_bytes;
        }
        if (status != (over ? YK_ERROR_NO_FIT : YK_OK)) {
            fail_msg("seed %d: %s", (int)seed, yk_status_message());
        }
        fits += over ? 0 : 1;
        refused += over ? 1 : 0;
        yk_program_destroy(program);
        yk_program_destroy(free_program);
        sound_plan_free(&sound);
    }
    assert_in_range(fits, 50, 550);
    assert_in_range(refused, 50, 550);
}

static int32_t pick(struct yk_random *random, int32_t count)
{
    return (int32_t)yk_random_below(random, count);
}

/* Changes one thing, whatever comes of it. */
static void change(struct yk_random *random, struct yk_program *program)
{
    const int32_t rank = pick(random, program->rank_count);
    struct yk_op_list *list = &program->ranks[rank];
    if (list->op_count == 0) {
        return;
    }
    const int32_t number = pick(random, list->op_count);
    struct yk_op *op = &list->ops[number];
    switch (pick(random, 5)) {
    case 0:
        edit_move(program, rank, number, pick(random, list->op_count));
        break;
    case 1:
        edit_move(program, rank, number, number + 1 < list->op_count ? number + 1 : 0);
        break;
    case 2:
        if (op->wait_count > 0) {
            list->waits[op->first_wait].lag = 1 - list->waits[op->first_wait].lag;
        }
        break;
    default:
        if (op->wait_count > 0) {
            edit_drop_wait(program, rank, number, pick(random, op->wait_count));
        }
        break;
    }
}

/* What the check lets pass runs well, and most of what it refuses can be seen to go wrong. Lists
 * that only stand in another order than the waits ask for are refused, but would run. */
static void the_check_and_the_run_agree_on_changed_programs(void **state)
{
    (void)state;
    int passed = 0;
    int refused = 0;
    int observed = 0;
    for (uint64_t seed = 1; seed <= 800; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct sound_plan sound = sound_plan_make(seed);
        struct yk_program *original = compile(&sound);
        struct yk_program *program = edit_copy(original);
        change(&random, program);
        const yk_status status = yk_program_check(program);
        const bool listed = status != YK_OK && strstr(yk_status_message(), "after it in the list");
        const char *wrong = NULL;
        for (uint64_t run = 0; run < 4 && !wrong && !listed; run++) {
            wrong = pretend_run(program, 4 * seed + run);
        }
        if (status == YK_OK && wrong) {
            fail_msg("seed %d: %s", (int)seed, wrong);
        }
        passed += status == YK_OK ? 1 : 0;
        refused += status != YK_OK && !listed ? 1 : 0;
        observed += status != YK_OK && !listed && wrong ? 1 : 0;
        yk_program_destroy(program);
        yk_program_destroy(original);
        sound_plan_free(&sound);
    }
    assert_in_range(passed, 100, 700);
    assert_in_range(refused, 100, 700);
    assert_true(10 * observed > 8 * refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_random_plans_are_valid),
        cmocka_unit_test(they_run_well_in_any_order_of_events),
        cmocka_unit_test(shuffled_ones_are_valid_and_run_well),
        cmocka_unit_test(a_program_fits_its_limit_or_is_refused),
        cmocka_unit_test(the_check_and_the_run_agree_on_changed_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
