/* Parts of a GPU as somebody writes them down, beside those that were measured. */
#include "support/files/scratch.h"
#include "support/support.h"

#include "base/log.h"
#include "cost/communication.h"
#include "cost/cost.h"
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct yk_model_config config = {.name = "made-up"};
static const struct yk_profile_measurement once = {.value = 1, .samples = 5, .versions = "none"};

static char notes[512];

static void keep_note(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    (void)level;
    const size_t length = strlen(notes);
    snprintf(notes + length, sizeof notes - length, "%s\n", line);
}

static struct yk_profile_measurement measured(double value)
{
    struct yk_profile_measurement made = once;
    made.value = value;
    return made;
}

static void add_part(struct yk_profile *profile, double part, double seconds)
{
    const struct yk_profile_layer_key layer = {"h200", part, "block C8 fp32", 64, "forward"};
    const struct yk_profile_measurement made = measured(seconds);
    assert_ok(yk_profile_add_layer_time(profile, &layer, 2, &made));
}

static void add_context(struct yk_profile *profile, const char *subject, double bytes)
{
    const struct yk_profile_fact_key fact = {subject, YK_PROFILE_FACT_CONTEXT_BYTES};
    const struct yk_profile_measurement made = measured(bytes);
    assert_ok(yk_profile_add_fact(profile, &fact, &made));
}

/* 92 and 18 of 132 multiprocessors, and all of them. */
static struct yk_profile *make_profile(void)
{
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(support_scratch_path("profile.db"), &profile));
    add_part(profile, 0.697, 2);
    add_part(profile, 0.136, 9);
    add_part(profile, 0.145, 8);
    add_part(profile, 1, 1);
    add_context(profile, "h200", 7e8);
    add_context(profile, "h200:69.7% with made-up", 5e8);
    add_context(profile, "h200:13.6%", 4e8);
    const struct yk_profile_fact_key slowdown = {"h200:13.6%", YK_PROFILE_FACT_COMPUTE_SLOWDOWN};
    const struct yk_profile_measurement longer = measured(1.25);
    assert_ok(yk_profile_add_fact(profile, &slowdown, &longer));
    const struct yk_profile_fact_key idle = {"h200:69.7%", YK_PROFILE_FACT_IDLE_SPEEDUP};
    const struct yk_profile_measurement shorter = measured(0.75);
    assert_ok(yk_profile_add_fact(profile, &idle, &shorter));
    const struct yk_profile_link_key link = {"h200:13.6%-h200:69.7% between nodes", "send", 2};
    const struct yk_profile_measurement made = measured(0.25);
    assert_ok(yk_profile_add_link_time(profile, &link, 1024, &made));
    return profile;
}

static struct yk_cost_time_estimate forward_of(const struct yk_cost_sources *sources,
                                               int32_t device)
{
    const struct yk_layer layer = {.name = "layer 0",
                                   .kind = "block",
                                   .shape = "block C8 fp32",
                                   .shares_weights_of = YK_LAYER_NONE};
    const struct yk_model model = {.config = &config, .workload = {.batch = 2, .sequence = 64}};
    struct yk_cost_time_estimate time = {0};
    assert_ok(yk_cost_layer_time(sources, device, &model, &layer, YK_COST_PASS_FORWARD, &time));
    return time;
}

static void a_part_is_known_by_the_nearest_that_was_measured(void **state)
{
    (void)state;
    struct yk_profile *profile = make_profile();
    struct yk_cluster *cluster = NULL;
    struct yk_device_measurements *measurements = NULL;
    struct yk_arena *arena = NULL;
    struct yk_cost_time_estimate time = {0};
    notes[0] = '\0';
    yk_log_set_sink(keep_note, NULL);
    assert_ok(yk_cluster_parse_line(
        "1x(1xh200:70%:48GiB) + 2x(1xh200:14%:24GiB) + 1x(h200:20%) @ 25GbE", &cluster));
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_device_measurements_read(profile, config.name, cluster, arena, &measurements));
    yk_log_set_sink(NULL, NULL);
    const struct yk_cost_sources sources = {
        .cluster = cluster, .profile = profile, .measurements = measurements};
    assert_true(forward_of(&sources, 0).seconds == 2);
    assert_true(forward_of(&sources, 1).seconds == 9); /* 14 is nearer to 13.6 than to 14.5 */
    assert_true(forward_of(&sources, 2).seconds == 9);
    assert_int_equal(forward_of(&sources, 1).origin, YK_COST_ORIGIN_MEASURED);
    assert_int_equal(forward_of(&sources, 3).origin, YK_COST_ORIGIN_DATASHEET);
    assert_true(measurements[0].context_bytes == 5e8);
    assert_true(measurements[1].context_bytes == 4e8); /* of another model */
    assert_true(measurements[3].context_bytes == 0);
    assert_true(measurements[0].communication_slowdown == 0); /* of which nothing was measured */
    assert_true(measurements[1].communication_slowdown == 1.25);
    assert_true(measurements[0].others_idle_scale == 0.75);
    assert_true(measurements[1].others_idle_scale == 0);
    assert_ok(yk_communication_send_time(&sources, 0, 2, 1024, &time));
    assert_true(time.seconds == 0.25);
    assert_ok(yk_communication_send_time(&sources, 1, 2, 1024, &time));
    assert_int_equal(time.origin, YK_COST_ORIGIN_DATASHEET);
    assert_string_equal(notes, "70% of h200: as measured on 69.7% of it\n"
                               "14% of h200: as measured on 13.6% of it\n");
    yk_arena_destroy(arena);
    yk_cluster_destroy(cluster);
    yk_profile_close(profile);
}

static void a_part_that_was_measured_is_itself(void **state)
{
    (void)state;
    struct yk_profile *profile = make_profile();
    struct yk_cluster *cluster = NULL;
    struct yk_device_measurements *measurements = NULL;
    struct yk_arena *arena = NULL;
    notes[0] = '\0';
    yk_log_set_sink(keep_note, NULL);
    assert_ok(yk_cluster_parse_line("h200:14.5% + h200", &cluster));
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_device_measurements_read(profile, config.name, cluster, arena, &measurements));
    yk_log_set_sink(NULL, NULL);
    const struct yk_cost_sources sources = {
        .cluster = cluster, .profile = profile, .measurements = measurements};
    assert_true(forward_of(&sources, 0).seconds == 8);
    assert_true(forward_of(&sources, 1).seconds == 1);
    assert_true(measurements[1].context_bytes == 7e8);
    assert_string_equal(notes, "");
    yk_arena_destroy(arena);
    yk_cluster_destroy(cluster);
    yk_profile_close(profile);
}

static void where_there_is_no_profile_nothing_is_known(void **state)
{
    (void)state;
    struct yk_cluster *cluster = NULL;
    struct yk_device_measurements *measurements = NULL;
    struct yk_arena *arena = NULL;
    assert_ok(yk_cluster_parse_line("h200:14.5% + cpu:1", &cluster));
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_device_measurements_read(NULL, config.name, cluster, arena, &measurements));
    for (int32_t i = 0; i < cluster->device_count; i++) {
        assert_true(measurements[i].context_bytes == 0);
        assert_true(measurements[i].measured_fraction == 0);
        assert_true(measurements[i].communication_slowdown == 0);
        assert_true(measurements[i].others_idle_scale == 0);
    }
    yk_arena_destroy(arena);
    yk_cluster_destroy(cluster);
}

/* A process that holds next to no model has 16 MiB resident by itself, and 20 to 28 beside others
 * under Open MPI. */
static void a_process_needs_a_context_on_a_gpu_and_on_a_cpu(void **state)
{
    (void)state;
    const struct yk_device_measurements measured[] = {{0}, {.context_bytes = 5e6}};
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_parse_line("1xa30 + cpu:1", &cluster));
    assert_in_range((uintmax_t)yk_device_measurements_context_bytes(NULL, cluster, 0), 500 << 20,
                    1 << 30);
    assert_in_range((uintmax_t)yk_device_measurements_context_bytes(NULL, cluster, 1), 16 << 20,
                    28 << 20);
    assert_in_range((uintmax_t)yk_device_measurements_context_bytes(measured, cluster, 0),
                    500 << 20, 1 << 30);
    assert_true(yk_device_measurements_context_bytes(measured, cluster, 1) == 5e6);
    yk_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_part_is_known_by_the_nearest_that_was_measured,
                                        support_scratch_make, support_scratch_drop),
        cmocka_unit_test_setup_teardown(a_part_that_was_measured_is_itself, support_scratch_make,
                                        support_scratch_drop),
        cmocka_unit_test(where_there_is_no_profile_nothing_is_known),
        cmocka_unit_test(a_process_needs_a_context_on_a_gpu_and_on_a_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
