/* The joint search beside trying every plan there is. */
#include "base/random.h"
#include "planner/planner.h"
#include "program/program.h"
#include "support/plans/exhaustive_plans.h"
#include "support/plans/random_problem.h"
#include "support/support.h"

#include <math.h>

enum {
#ifdef __SANITIZE_ADDRESS__
    PROBLEMS = 3
#else
    PROBLEMS = 30
#endif
};

static void check_memory(const struct yk_planner_outcome *planned)
{
    for (int32_t r = 0; r < planned->plan->rank_count; r++) {
        assert_true(planned->evaluation.peaks[r].bytes <= planned->plan->ranks[r].limit_bytes);
        assert_true(planned->plan->ranks[r].limit_bytes <=
                    planned->context->limit_bytes[planned->plan->ranks[r].device]);
    }
    assert_ok(yk_plan_check(planned->plan, planned->context->model));
    assert_ok(yk_program_check(planned->evaluation.program));
}

/* Devices that are up to twice as fast while others rest. */
static void crowd(struct drawn_problem *problem, uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed);
    for (int32_t p = 0; p < problem->cluster->device_count; p++) {
        problem->facts[p].others_idle_scale = 0.5 + 0.1 * (double)yk_random_below(&random, 6);
    }
}

static void check_problem(uint64_t seed, bool crowded)
{
    const struct drawn_size most = {.blocks = 1, .devices = 3, .batch = 4};
    struct drawn_problem problem;
    struct yk_planner_outcome *planned = NULL;
    struct yk_arena *arena = NULL;
    struct every_plan every;
    drawn_problem_make(seed, &most, &problem);
    if (crowded) {
        crowd(&problem, seed);
    }
    assert_ok(yk_planner_search(&problem.request, &planned));
    assert_ok(yk_arena_create(&arena));
    every_plan_look(planned->context, planned->plan ? planned->evaluation.step_s / 1.01 : INFINITY,
                    !planned->plan, arena, &every);
    /* No plan is faster by more than a hundredth and, where none was found, none fits. */
    assert_null(every.best);
    if (planned->plan) {
        check_memory(planned);
        assert_true(planned->bound_s <= planned->evaluation.step_s);
    }
    yk_arena_destroy(arena);
    yk_planner_outcome_destroy(planned);
    drawn_problem_free(&problem);
}

static void no_plan_is_faster_by_more_than_a_hundredth(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        check_problem(seed, false);
    }
}

static void nor_where_devices_are_faster_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROBLEMS / 2; seed++) {
        check_problem(seed, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_is_faster_by_more_than_a_hundredth),
        cmocka_unit_test(nor_where_devices_are_faster_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
