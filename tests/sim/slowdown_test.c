#include "profile/profile.h"
#include "sim/sim.h"
#include "support/programs/row_program.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Links of one byte a second without latency: a ring of two takes half a message's bytes. */
static const struct yk_link slow = {0, 1};

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

/* The parameters of the second layer travel while the first is computed. */
static const struct hand_op gathering[] = {
    {YK_OP_FORWARD, .layer = 0, .samples = 1},
    {YK_OP_ALL_GATHER, .layer = 1, .bytes = 4, .waits = "2'"},
    {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "1"},
    HAND_END,
};

struct measured {
    struct hand_program *hand;
    struct yk_layer_costs *costs;
    struct yk_profile *profile;
    char folder[32];
    char path[64];
};

static void add_fact(struct yk_profile *profile, const char *name, double value)
{
    const struct yk_profile_fact_key fact = {"test-test within a node", name};
    const struct yk_profile_measurement measurement = {
        .value = value, .samples = 3, .versions = "test"};
    assert_ok(yk_profile_add_fact(profile, &fact, &measurement));
}

/* Two ranks whose layers take 4 s, and what was measured about them. */
static struct measured make(double compute, double message)
{
    struct measured made = {.folder = "/tmp/yoke-beside-XXXXXX"};
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {gathering, gathering}};
    made.hand = hand_program_make(&spec);
    struct yk_device *devices = (struct yk_device *)(uintptr_t)made.hand->cluster.devices;
    devices[0].type = "test";
    devices[1].type = "test";
    assert_non_null(mkdtemp(made.folder));
    snprintf(made.path, sizeof made.path, "%s/profile.db", made.folder);
    assert_ok(yk_profile_open_or_create(made.path, &made.profile));
    add_fact(made.profile, YK_PROFILE_FACT_COMPUTE_SLOWDOWN, compute);
    add_fact(made.profile, YK_PROFILE_FACT_MESSAGE_SLOWDOWN, message);
    made.hand->sources.profile = made.profile;
    assert_ok(yk_layer_costs_create(&made.hand->sources, made.hand->cache, &made.costs));
    return made;
}

static void finish(struct measured *made)
{
    yk_layer_costs_destroy(made->costs);
    yk_profile_close(made->profile);
    hand_program_free(made->hand);
    unlink(made->path);
    rmdir(made->folder);
}

static struct yk_sim_result *run(const struct measured *made, double slowdown)
{
    const struct yk_sim_options options = {.slowdown = slowdown};
    struct yk_sim_result *sim = NULL;
    assert_ok(yk_sim_run(&made->hand->program, made->costs, &options, &sim));
    return sim;
}

/* The gather of 2 s takes 3 times as long, in which 6 / 2 of the 4 s are done. */
static void what_was_measured_slows_both(void **state)
{
    (void)state;
    struct measured made = make(2, 3);
    struct yk_sim_result *sim = run(&made, 0);
    assert_near(sim->ranks[0].end_s[1], 6);
    assert_near(sim->ranks[0].end_s[0], 7);
    assert_near(sim->step_s, 11);
    assert_near(sim->slowdown, 2);
    yk_sim_result_destroy(sim);
    finish(&made);
}

/* In the 6 s of the gather all of the 4 s are done, which take 1.5 times as long there. */
static void what_was_measured_of_the_device_goes_before(void **state)
{
    (void)state;
    struct measured made = make(2, 3);
    const struct yk_device_measurements measurements[] = {{.communication_slowdown = 1.5},
                                                          {.communication_slowdown = 1.5}};
    made.hand->program.measurements = measurements;
    struct yk_sim_result *sim = run(&made, 0);
    assert_near(sim->ranks[0].end_s[1], 6);
    assert_near(sim->ranks[0].end_s[0], 6);
    assert_near(sim->step_s, 10);
    assert_near(sim->slowdown, 1.5);
    yk_sim_result_destroy(sim);
    finish(&made);
}

static void a_message_goes_faster_once_nobody_computes(void **state)
{
    (void)state;
    struct measured made = make(1, 10);
    struct yk_sim_result *sim = run(&made, 0);
    /* While the first layer computes, 4 s, the gather does 0.4 of its 2 s; the 1.6 left follow. */
    assert_near(sim->ranks[0].end_s[0], 4);
    assert_near(sim->ranks[0].end_s[1], 5.6);
    assert_near(sim->step_s, 9.6);
    yk_sim_result_destroy(sim);
    finish(&made);
}

static void a_slowdown_that_is_given_goes_before_the_measured(void **state)
{
    (void)state;
    struct measured made = make(2, 1);
    struct yk_sim_result *sim = run(&made, 1);
    assert_near(sim->step_s, 8);
    assert_near(sim->slowdown, 1);
    yk_sim_result_destroy(sim);
    finish(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measured_slows_both),
        cmocka_unit_test(what_was_measured_of_the_device_goes_before),
        cmocka_unit_test(a_message_goes_faster_once_nobody_computes),
        cmocka_unit_test(a_slowdown_that_is_given_goes_before_the_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
