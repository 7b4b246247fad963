#include "sim/sim.h"
#include "support/clusters/stated_times.h"
#include "support/plans/compiled_plan.h"
#include "support/support.h"

#include <math.h>

enum {
    PLANS = 80,
    IMAGES = 3, /* rounds before and after that reach into one */
};

static const struct made_up_device devices[] = {{"1GiB", 1e-3, 3e-3, 1e-4, 2e-3},
                                                {"1GiB", 1e-3, 3e-3, 1e-4, 2e-3},
                                                {"1GiB", 5e-4, 1e-3, 1e-4, 1e-3},
                                                {"1GiB", 2e-3, 4e-3, 1e-4, 2e-3}};

struct observed {
    struct yk_arena *arena;
    struct compiled_plan *made;
    struct yk_sim_result *sim;
    int32_t rank;
    struct yk_program_memory *memory;
    struct yk_memory_timeline_point *points;
    int32_t count;
};

/* Calls `check` for every rank of many plans; nothing slows anything down, so that all rounds are
 * alike to the last digits. */
static void see_plans(void (*check)(const struct observed *observed))
{
    struct yk_random random = yk_random_from_seed(21);
    struct yk_cluster *cluster = made_up_cluster(devices, COMPILED_PLAN_RANKS, "20MB/s");
    const struct yk_sim_options options = {.slowdown = 1};
    for (int trial = 0; trial < PLANS; trial++) {
        struct observed observed = {.made = compiled_plan_make(&random, cluster)};
        assert_ok(yk_arena_create(&observed.arena));
        assert_ok(
            yk_sim_run(observed.made->program, observed.made->costs, &options, &observed.sim));
        for (; observed.rank < observed.made->program->rank_count; observed.rank++) {
            assert_ok(yk_program_memory_count_for_rank(observed.made->program, observed.rank,
                                                       observed.arena, &observed.memory));
            assert_ok(yk_sim_compute_memory_over_time(observed.sim, observed.rank, observed.arena,
                                                      &observed.points, &observed.count));
            check(&observed);
        }
        yk_sim_result_destroy(observed.sim);
        compiled_plan_free(observed.made);
        yk_arena_destroy(observed.arena);
    }
    yk_cluster_destroy(cluster);
}

/* What is held at a time, each buffer in turn in as many rounds as can reach there. */
static void hold_at(const struct observed *observed, double at_s,
                    double bytes[YK_MEMORY_KIND_COUNT])
{
    const struct yk_sim_rank_result *times = &observed->sim->ranks[observed->rank];
    const double step_s = observed->sim->step_s;
    for (int kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        bytes[kind] = observed->memory->permanent_bytes[kind];
    }
    for (int32_t i = 0; i < observed->memory->lifetime_count; i++) {
        const struct yk_buffer_lifetime *lifetime = &observed->memory->lifetimes[i];
        double from_s = INFINITY;
        double until_s = -INFINITY;
        for (int lane = 0; lane < YK_BUFFER_LIFETIME_LANES; lane++) {
            const int32_t begin = lifetime->begin[lane];
            const int32_t end = lifetime->end[lane];
            from_s = begin >= 0 ? fmin(from_s, times->start_s[begin]) : from_s;
            until_s = end >= 0
                          ? fmax(until_s, times->end_s[end] + lifetime->lag_iterations * step_s)
                          : until_s;
        }
        for (int image = -IMAGES; image <= IMAGES; image++) {
            if (from_s + image * step_s <= at_s && at_s < until_s + image * step_s) {
                bytes[lifetime->memory] += lifetime->bytes;
            }
        }
    }
}

static void check_moments(const struct observed *observed)
{
    const double step_s = observed->sim->step_s;
    assert_true(observed->count > 0 && observed->points[0].at_s == 0);
    for (int32_t i = 0; i < observed->count; i++) {
        const double until_s = i + 1 < observed->count ? observed->points[i + 1].at_s : step_s;
        double expected[YK_MEMORY_KIND_COUNT];
        assert_true(observed->points[i].at_s < until_s);
        if (until_s - observed->points[i].at_s < 1e-9 * step_s) {
            continue; /* rounding decides what is first in another round */
        }
        hold_at(observed, (observed->points[i].at_s + until_s) / 2, expected);
        for (int kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
            if (!(fabs(observed->points[i].bytes[kind] - expected[kind]) <= 1e-3)) {
                fail_msg("%s: %.3f is not %.3f", yk_memory_kind_name((enum yk_memory_kind)kind),
                         observed->points[i].bytes[kind], expected[kind]);
            }
        }
    }
}

static void memory_over_a_round_is_what_its_ops_hold(void **state)
{
    (void)state;
    see_plans(check_moments);
}

static void check_peak(const struct observed *observed)
{
    const struct yk_sim_rank_result *reported = &observed->sim->ranks[observed->rank];
    struct yk_memory_peak most;
    double highest = 0;
    double sum = 0;
    for (int32_t i = 0; i < observed->count; i++) {
        double bytes = 0;
        for (int kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
            bytes += observed->points[i].bytes[kind];
        }
        highest = fmax(highest, bytes);
    }
    for (int kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        sum += reported->peak_by_kind[kind];
    }
    assert_true(reported->peak_bytes == highest && reported->peak_bytes == sum);
    assert_ok(yk_program_memory_find_peak(observed->made->program, observed->rank, observed->memory,
                                          &most));
    assert_true(reported->peak_bytes <= most.bytes);
}

static void the_peak_is_the_highest_moment_and_never_over_what_can_be(void **state)
{
    (void)state;
    see_plans(check_peak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_over_a_round_is_what_its_ops_hold),
        cmocka_unit_test(the_peak_is_the_highest_moment_and_never_over_what_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
