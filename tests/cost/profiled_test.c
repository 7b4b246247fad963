#include "support/files/scratch.h"
#include "support/support.h"

#include "cost/cost.h"
#include "profile/profile.h"

#include <math.h>
#include <stdbool.h>

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static const struct yk_model_config config = {.name = "made-up"};
static const struct yk_device_efficiency efficiencies[YK_DEVICE_GENERATION_COUNT] = {
    [YK_DEVICE_GENERATION_UNKNOWN] = {.rate = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
                                      .reuse = 1e30,
                                      .memory = 1,
                                      .narrow = 1},
};
/* At 1 T operations a second: 3 s of products, and 1 s of attention. */
static const struct yk_kernel_work works[] = {
    {.class = YK_KERNEL_MATRIX, .operations = 3e12, .launches = 1},
    {.class = YK_KERNEL_ATTENTION, .operations = 1e12, .launches = 1},
};

static struct yk_cost_time_estimate cost_of(struct yk_profile *profile, int64_t batch,
                                            int64_t sequence, enum yk_cost_pass pass)
{
    const struct yk_device device = {.type = "round",
                                     .fraction = 1,
                                     .memory_bytes_per_s = 1e30,
                                     .matrix_flops = {1e12, 1e12, 1e12, 1e12},
                                     .vector_flops = 1e12};
    const struct yk_cluster cluster = {.device_count = 1, .node_count = 1, .devices = &device};
    const struct yk_cost_sources sources = {
        .cluster = &cluster, .profile = profile, .efficiencies = efficiencies};
    const struct yk_layer layer = {.name = "layer 3",
                                   .kind = "block",
                                   .shape = "block C8 fp32",
                                   .shares_weights_of = YK_LAYER_NONE,
                                   .forward = {works, 2},
                                   .backward = {works, 2},
                                   .update = {works, 1}};
    const struct yk_model model = {.config = &config,
                                   .workload = {.batch = batch, .sequence = sequence}};
    struct yk_cost_time_estimate time = {0};
    assert_ok(yk_cost_layer_time(&sources, 0, &model, &layer, pass, &time));
    return time;
}

static void add(struct yk_profile *profile, const char *pass, int64_t sequence, int64_t batch,
                double seconds)
{
    const struct yk_profile_layer_key layer = {"round", 1, "block C8 fp32", sequence, pass};
    const struct yk_profile_measurement measurement = {
        .value = seconds, .samples = 5, .versions = "none"};
    assert_ok(yk_profile_add_layer_time(profile, &layer, batch, &measurement));
}

/* What a layer of these devices takes: launches, products, attention. */
static double real_s(int64_t batch, int64_t sequence)
{
    const double B = (double)batch;
    const double T = (double)sequence;
    return 1e-3 + 1e-5 * B * T + 1e-8 * B * T * T;
}

static struct yk_profile *open_profile(void)
{
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(support_scratch_path("profile.db"), &profile));
    return profile;
}

static void a_sequence_between_two_measured_ones_is_on_the_line_of_equal_tokens(void **state)
{
    (void)state;
    struct yk_profile *profile = open_profile();
    for (int64_t batch = 1; batch <= 8; batch *= 2) {
        add(profile, "forward", 512, batch, real_s(batch, 512));
        add(profile, "forward", 1024, batch, real_s(batch, 1024));
        add(profile, "forward", 4096, batch, 1e9); /* there are nearer ones */
    }
    for (int64_t batch = 1; batch <= 16; batch++) {
        const struct yk_cost_time_estimate time =
            cost_of(profile, batch, 768, YK_COST_PASS_FORWARD);
        assert_near(time.seconds, real_s(batch, 768));
        assert_int_equal(time.origin, YK_COST_ORIGIN_INTERPOLATED);
        assert_true(time.error > 0.03);
    }
    assert_int_equal(cost_of(profile, 4, 512, YK_COST_PASS_FORWARD).origin,
                     YK_COST_ORIGIN_MEASURED);
    assert_int_equal(cost_of(profile, 4, 768, YK_COST_PASS_BACKWARD).origin,
                     YK_COST_ORIGIN_DATASHEET);
    yk_profile_close(profile);
}

/* The datasheet has 3 s of products and 1 s of attention for the sequence asked for; at the one
 * that was measured, half as long, attention is 0.5 s of 3.5 s. 8 samples have as many tokens
 * there as 4 have here. */
static void beyond_the_measured_sequences_the_datasheet_scales(void **state)
{
    (void)state;
    struct yk_profile *profile = open_profile();
    add(profile, "forward", 512, 8, 0.7);
    const struct yk_cost_time_estimate longer = cost_of(profile, 4, 1024, YK_COST_PASS_FORWARD);
    assert_near(longer.seconds, 0.7 * 4 / 3.5);
    assert_near(longer.error, 0.03 + 0.03 + 0.29 * (1 - 3.5 / 4));
    assert_int_equal(longer.origin, YK_COST_ORIGIN_INTERPOLATED);
    /* 16 samples of half the length: attention would take 2 s of 5 s. */
    assert_near(cost_of(profile, 16, 256, YK_COST_PASS_FORWARD).seconds, 0.7 * 4 / 5);
    yk_profile_close(profile);
}

static void an_update_is_the_same_for_all_sequences(void **state)
{
    (void)state;
    struct yk_profile *profile = open_profile();
    add(profile, "update", 512, 8, 0.25);
    const struct yk_cost_time_estimate time = cost_of(profile, 3, 640, YK_COST_PASS_UPDATE);
    assert_near(time.seconds, 0.25);
    assert_int_equal(time.origin, YK_COST_ORIGIN_MEASURED);
    yk_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_sequence_between_two_measured_ones_is_on_the_line_of_equal_tokens,
            support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(beyond_the_measured_sequences_the_datasheet_scales,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(an_update_is_the_same_for_all_sequences,
                                        support_scratch_make, support_scratch_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
