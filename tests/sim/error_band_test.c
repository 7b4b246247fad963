#include "profile/profile.h"
#include "sim/sim.h"
#include "support/files/scratch.h"
#include "support/programs/row_program.h"
#include "support/support.h"

#include <math.h>
#include <stdint.h>

static const struct yk_link slow = {0, 1};
static const struct yk_sim_options as_alone = {.slowdown = 1};

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

/* 4 s of each layer, by the cluster's table; 6 s of gathering, of which the second layer waits for
 * 2 s. */
static void the_band_is_of_computation_and_what_is_exposed(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_FORWARD, .layer = 0, .samples = 1},
        {YK_OP_ALL_GATHER, .layer = 1, .bytes = 12, .waits = "2'"},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "1"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {list, list}};
    struct hand_program *hand = hand_program_make(&spec);
    struct yk_sim_result *sim = NULL;
    struct yk_error_band band;
    assert_ok(yk_sim_run(&hand->program, hand->costs, &as_alone, &sim));
    assert_ok(yk_sim_compute_error_band(sim, hand->costs, &band));
    assert_near(yk_error_band_origin_fraction(&band, YK_COST_ORIGIN_CLUSTER_FILE), 0.8);
    assert_near(yk_error_band_origin_fraction(&band, YK_COST_ORIGIN_DATASHEET), 0.2);
    assert_near(yk_error_band_relative_error(&band), 0.8 * 0.05 + 0.2 * 0.29);
    yk_sim_result_destroy(sim);
    hand_program_free(hand);
}

/* Tokens and targets of 16 samples: what 8 bytes for each token take, here a second each. */
static void a_load_lasts_as_long_as_copies_were_measured(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_LOAD, .samples = HAND_BATCH},
        {YK_OP_FORWARD, .layer = 1, .samples = 1, .waits = "0"},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 1, .devices = {{.layer_s = 3}}, .lists = {list}};
    const struct yk_profile_link_key link = {"test-host", "to device", 1};
    struct hand_program *hand = hand_program_make(&spec);
    struct yk_device *device = (struct yk_device *)(uintptr_t)hand->cluster.devices;
    struct yk_layer_costs *costs = NULL;
    struct yk_sim_result *sim = NULL;
    const int64_t tokens =
        HAND_BATCH * yk_model_cache_get_whole_batch(hand->cache)->workload.sequence;
    const struct yk_profile_measurement measured = {
        .value = (double)tokens, .samples = 5, .versions = "test"};
    device->type = "test";
    assert_ok(
        yk_profile_open_or_create(support_scratch_path("profile.db"), &hand->sources.profile));
    assert_ok(yk_profile_add_link_time(hand->sources.profile, &link, 8 * tokens, &measured));
    assert_ok(yk_layer_costs_create(&hand->sources, hand->cache, &costs));
    assert_ok(yk_sim_run(&hand->program, costs, &as_alone, &sim));
    assert_near(sim->ranks[0].end_s[0] - sim->ranks[0].start_s[0], (double)tokens);
    yk_sim_result_destroy(sim);
    yk_layer_costs_destroy(costs);
    yk_profile_close(hand->sources.profile);
    hand_program_free(hand);
}

/* Two blocks, which are alike, on two devices that are, and a message of both. */
static void ops_alike_are_counted_together(void **state)
{
    (void)state;
    static const struct hand_op list[] = {
        {YK_OP_FORWARD, .layer = 1, .samples = 1},
        {YK_OP_ALL_GATHER, .layer = 1, .bytes = 12, .waits = "2'"},
        {YK_OP_RECOMPUTE, .layer = 2, .samples = 1, .waits = "1"},
        {YK_OP_BACKWARD, .layer = 2, .samples = 1},
        HAND_END,
    };
    const struct hand_spec spec = {.rank_count = 2,
                                   .devices = {{.layer_s = 4}, {.layer_s = 4}},
                                   .within = slow,
                                   .lists = {list, list}};
    static const struct yk_sim_op_class expected[] = {
        {.kind = YK_OP_FORWARD,
         .count = 4,
         .samples = 1,
         .time = {4, YK_COST_ORIGIN_CLUSTER_FILE, 0.05}},
        {.kind = YK_OP_ALL_GATHER,
         .count = 1,
         .bytes = 12,
         .time = {6, YK_COST_ORIGIN_DATASHEET, 0.29}},
        {.kind = YK_OP_BACKWARD,
         .count = 2,
         .samples = 1,
         .time = {8, YK_COST_ORIGIN_CLUSTER_FILE, 0.05}},
    };
    struct hand_program *hand = hand_program_make(&spec);
    struct yk_sim_result *sim = NULL;
    struct yk_sim_op_class *classes = NULL;
    int32_t count = 0;
    assert_ok(yk_sim_run(&hand->program, hand->costs, &as_alone, &sim));
    assert_ok(yk_sim_count_op_classes(sim, hand->costs, sim->arena, &classes, &count));
    assert_int_equal(count, 3);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(classes[i].kind, expected[i].kind);
        assert_int_equal(classes[i].count, expected[i].count);
        assert_int_equal(classes[i].samples, expected[i].samples);
        assert_near(classes[i].bytes, expected[i].bytes);
        assert_near(classes[i].time.seconds, expected[i].time.seconds);
        assert_int_equal(classes[i].time.origin, expected[i].time.origin);
        assert_near(classes[i].time.error, expected[i].time.error);
    }
    yk_sim_result_destroy(sim);
    hand_program_free(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_band_is_of_computation_and_what_is_exposed),
        cmocka_unit_test(ops_alike_are_counted_together),
        cmocka_unit_test_setup_teardown(a_load_lasts_as_long_as_copies_were_measured,
                                        support_scratch_make, support_scratch_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
