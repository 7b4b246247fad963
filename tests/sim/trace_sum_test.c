/* What a simulation says of its ranks, against the sums over its trace: two ways to one number. */
#include "trace/trace.h"

#include "sim/sim.h"
#include "support/clusters/stated_times.h"
#include "support/plans/compiled_plan.h"
#include "support/support.h"

#include <math.h>

enum {
    PLANS = 150,
};

/* Rounds are equally long to a ten-thousandth; a few of those add up in a sum. */
static const double TOLERANCE = 1e-3;

static void assert_near(double actual, double expected, double step_s)
{
    if (!(fabs(actual - expected) <= TOLERANCE * step_s)) {
        fail_msg("%.17g is not %.17g in a step of %g", actual, expected, step_s);
    }
}

static void check(const struct yk_sim_result *sim)
{
    const int32_t ranks = sim->program->rank_count;
    struct yk_trace_breakdown sums[COMPILED_PLAN_RANKS];
    struct yk_trace *trace = NULL;
    assert_true(ranks <= COMPILED_PLAN_RANKS);
    assert_ok(yk_sim_make_trace(sim, &trace));
    assert_near(yk_trace_breakdown_step_length_s(trace), sim->step_s, sim->step_s);
    assert_ok(yk_trace_breakdown_compute(trace, sim->step_s, sums));
    for (int32_t rank = 0; rank < ranks; rank++) {
        assert_near(sums[rank].compute_s, sim->ranks[rank].compute_s, sim->step_s);
        assert_near(sums[rank].exposed_s, sim->ranks[rank].exposed_s, sim->step_s);
        assert_near(sums[rank].idle_s, sim->ranks[rank].idle_s, sim->step_s);
    }
    yk_trace_destroy(trace);
}

static void check_plans(struct yk_cluster *cluster, double slowdown, uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed);
    const struct yk_sim_options options = {.slowdown = slowdown};
    for (int trial = 0; trial < PLANS; trial++) {
        struct compiled_plan *made = compiled_plan_make(&random, cluster);
        struct yk_sim_result *sim = NULL;
        assert_ok(yk_sim_run(made->program, made->costs, &options, &sim));
        check(sim);
        yk_sim_result_destroy(sim);
        compiled_plan_free(made);
    }
    yk_cluster_destroy(cluster);
}

static void sums_over_a_trace_are_those_of_the_simulation(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {{"1GiB", 1e-3, 3e-3, 1e-4, 2e-3},
                                                    {"1GiB", 1e-3, 3e-3, 1e-4, 2e-3},
                                                    {"1GiB", 5e-4, 1e-3, 1e-4, 1e-3},
                                                    {"1GiB", 2e-3, 4e-3, 1e-4, 2e-3}};
    struct yk_cluster *cluster = NULL;
    check_plans(made_up_cluster(devices, COMPILED_PLAN_RANKS, "20MB/s"), 1, 11);
    check_plans(made_up_cluster(devices, COMPILED_PLAN_RANKS, "20MB/s"), 1.2, 12);
    assert_ok(yk_cluster_parse_line("2x(2xa30 @ 1GB/s) @ 100MB/s", &cluster));
    check_plans(cluster, 1.3, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_a_trace_are_those_of_the_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
