/* Devices that are slower while others compute. */
#include "sim/sim.h"

#include "support/programs/row_program.h"
#include "support/support.h"

#include <math.h>

static const struct hand_op one_layer[] = {
    {YK_OP_FORWARD, .layer = 0, .samples = 1},
    HAND_END,
};

static double run(const struct hand_spec *spec, double first_scale, double second_scale)
{
    struct hand_program *hand = hand_program_make(spec);
    struct yk_device *devices = (struct yk_device *)(uintptr_t)hand->cluster.devices;
    const struct yk_device_measurements measurements[] = {{.others_idle_scale = first_scale},
                                                          {.others_idle_scale = second_scale}};
    struct yk_layer_costs *costs = NULL;
    struct yk_sim_result *sim = NULL;
    devices[0].fraction = devices[1].fraction = 1;
    hand->program.measurements = measurements;
    assert_ok(yk_layer_costs_create(&hand->sources, hand->cache, &costs));
    assert_ok(yk_sim_run(&hand->program, costs, &(struct yk_sim_options){0}, &sim));
    const double step_s = sim->step_s;
    yk_sim_result_destroy(sim);
    yk_layer_costs_destroy(costs);
    hand_program_free(hand);
    return step_s;
}

/* The step of two ranks that have nothing to do with each other but that they compute. */
static double step_of(double first_s, double second_s, double first_scale, double second_scale)
{
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = first_s}, {.layer_s = second_s}},
                                   .within = {0, 1},
                                   .lists = {one_layer, one_layer}};
    return run(&spec, first_scale, second_scale);
}

static void assert_within(double actual, double expected, double part)
{
    if (!(fabs(actual - expected) <= part * expected)) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static void nothing_known_changes_nothing(void **state)
{
    (void)state;
    assert_within(step_of(4, 1, 0, 0), 4, 1e-9);
    assert_within(step_of(4, 1, 1, 1), 4, 1e-9);
}

/* Times are those of all at work. */
static void who_is_never_alone_is_as_slow_as_measured(void **state)
{
    (void)state;
    assert_within(step_of(4, 4, 0.5, 0.5), 4, 1e-9);
}

/* While the other works for 1 of t seconds, 4 s become 4 (0.5 + 0.5 / t) = t: t is 1 + √3. */
static void who_is_mostly_alone_is_faster(void **state)
{
    (void)state;
    assert_within(step_of(4, 1, 0.5, 0), 1 + sqrt(3), 0.01);
}

/* The other, too, is faster: u = s / t of a step t, and s = 1, since the first is never idle. */
static void both_are_slowed_by_what_the_other_does(void **state)
{
    (void)state;
    assert_within(step_of(4, 1, 0.5, 0.5), 1 + sqrt(3), 0.01);
}

static void who_is_alone_altogether_rests_others(void **state)
{
    (void)state;
    assert_within(step_of(4, 1e-6, 0.7, 0), 2.8, 0.001);
}

/* Both compute for 2 s and then wait for a sum, for as long: never one without the other. */
static void who_waits_with_the_others_is_no_faster(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "1'"},
        {YK_OP_ALL_REDUCE, .layer = 0, .bytes = 2, .waits = "0"},
        HAND_END,
    };
    struct hand_spec spec = {.rank_count = 2,
                             .devices = {{.layer_s = 2}, {.layer_s = 2}},
                             .within = {0, 1},
                             .lists = {list, list}};
    assert_within(run(&spec, 0.5, 0.5), 4, 1e-9);
    spec.apart = true;
    assert_within(run(&spec, 0.5, 0.5), 4, 1e-9);
}

/* One after the other, each half of the time: power is that of both over the whole step, so that
 * they take 0.5 + 0.5 · 0.5 times as long. */
static void who_works_in_turn_shares_power_still(void **state)
{
    (void)state;
    static const struct hand_op first[] = {
        {YK_OP_FORWARD, .layer = 0, .samples = 1, .waits = "2'"},
        {YK_OP_SEND, .layer = 0, .peer = 1, .match = 0, .bytes = 1e-9, .waits = "0"},
        {YK_OP_RECV, .layer = 0, .peer = 1, .match = 1, .bytes = 1e-9},
        HAND_END,
    };
    static const struct hand_op second[] = {
        {YK_OP_RECV, .layer = 0, .peer = 0, .match = 0, .bytes = 1e-9},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "0"},
        {YK_OP_SEND, .layer = 1, .peer = 0, .match = 1, .bytes = 1e-9, .waits = "1"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 2}, {.layer_s = 2}},
                                   .within = {0, 1},
                                   .lists = {first, second}};
    assert_within(run(&spec, 0.5, 0.5), 3, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_known_changes_nothing),
        cmocka_unit_test(who_is_never_alone_is_as_slow_as_measured),
        cmocka_unit_test(who_is_mostly_alone_is_faster),
        cmocka_unit_test(both_are_slowed_by_what_the_other_does),
        cmocka_unit_test(who_is_alone_altogether_rests_others),
        cmocka_unit_test(who_waits_with_the_others_is_no_faster),
        cmocka_unit_test(who_works_in_turn_shares_power_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
