#include "support/support.h"

#include "measure/profiler/profiler.h"
#include "support/exchanges/thread_comm.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 2,
    LARGEST = 4096,
    SIZES = 3, /* of messages: 8, 1024, 4096 */
};

struct measuring {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_cluster *cluster;
    struct yk_profiler surveys[RANKS];
};

struct rank {
    struct yk_device_context context;
    struct yk_backend_lane *lane;
    struct yk_communicator ranks;
};

static double a_billion_bytes(const struct yk_device_context *context)
{
    (void)context;
    return 1e9;
}

static yk_status open_rank(struct rank *rank)
{
    const struct yk_backend_device_options options = {.threads = 1};
    rank->context.backend = &yk_backend_cpu;
    YK_TRY(yk_backend_cpu.open(&options, &rank->context.device));
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "load", &rank->context.lane));
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "comm", &rank->lane));
    return yk_communicator_open(&yk_comm_threads,
                                &(struct yk_comm_options){.backend = &yk_backend_cpu,
                                                          .device = rank->context.device,
                                                          .lane = rank->lane},
                                &rank->ranks);
}

static void close_rank(struct rank *rank)
{
    yk_communicator_close(&rank->ranks);
    yk_backend_cpu.lane_destroy(rank->lane);
    yk_backend_cpu.lane_destroy(rank->context.lane);
    yk_backend_cpu.close(rank->context.device);
}

static yk_status measure(const struct measuring *measuring, const struct rank *rank,
                         struct yk_profiler *profiler)
{
    const struct yk_measuring_ranks all = {.host_communicator = &rank->ranks,
                                           .context = rank->context};
    const struct yk_profiler_request request = {
        .config = measuring->config,
        .workload = {.batch = 1, .sequence = 8, .precision = YK_PRECISION_FP32},
        .cluster = measuring->cluster,
        .slowdown_factor = rank->ranks.rank == 1 ? 2 : 1,
        .used_bytes = a_billion_bytes,
        .versions = "test",
    };
    YK_TRY(yk_profiler_measure_layers(profiler, &all, &request));
    return yk_profiler_measure_links(profiler, &all, &request, LARGEST);
}

static yk_status run_rank(int32_t number, int32_t ranks, void *user)
{
    (void)ranks;
    struct measuring *measuring = user;
    struct rank rank = {0};
    yk_status status = open_rank(&rank);
    if (status == YK_OK) {
        status = measure(measuring, &rank, &measuring->surveys[number]);
    }
    close_rank(&rank);
    return status;
}

/* Of three ranks one computes on another CPU, then all on the same. */
static yk_status compare_rank(int32_t number, int32_t ranks, void *user)
{
    (void)ranks;
    bool(*differ)[3][2] = user;
    struct rank rank = {0};
    YK_TRY(open_rank(&rank));
    const struct yk_measuring_ranks all = {.host_communicator = &rank.ranks,
                                           .context = rank.context};
    yk_status status = yk_measuring_ranks_texts_differ(
        &all, number == 1 ? "one CPU" : "another CPU", &(*differ)[number][0]);
    if (status == YK_OK) {
        status = yk_measuring_ranks_texts_differ(&all, "one CPU", &(*differ)[number][1]);
    }
    close_rank(&rank);
    return status;
}

static void ranks_on_different_cpus_are_noticed(void **state)
{
    (void)state;
    bool differ[3][2] = {{false, true}, {false, true}, {false, true}};
    assert_ok(yk_thread_world_run(3, compare_rank, &differ));
    for (int i = 0; i < 3; i++) {
        assert_true(differ[i][0]);
        assert_false(differ[i][1]);
    }
}

static int make(void **state)
{
    struct measuring *measuring = calloc(1, sizeof *measuring);
    if (!measuring) {
        return -1;
    }
    assert_ok(yk_arena_create(&measuring->arena));
    assert_ok(yk_model_config_open("gpt-nano", measuring->arena, &measuring->config));
    assert_ok(yk_cluster_parse_line("cpu:1 + cpu:1:50%", &measuring->cluster));
    for (int i = 0; i < RANKS; i++) {
        assert_ok(yk_profiler_init(&measuring->surveys[i]));
    }
    assert_ok(yk_thread_world_run(RANKS, run_rank, measuring));
    *state = measuring;
    return 0;
}

static int unmake(void **state)
{
    struct measuring *measuring = *state;
    for (int i = 0; i < RANKS; i++) {
        yk_profiler_free(&measuring->surveys[i]);
    }
    yk_cluster_destroy(measuring->cluster);
    yk_arena_destroy(measuring->arena);
    free(measuring);
    return 0;
}

static void every_rank_ends_with_the_same_survey(void **state)
{
    const struct measuring *measuring = *state;
    const struct yk_profiler *one = &measuring->surveys[0];
    const struct yk_profiler *other = &measuring->surveys[1];
    assert_int_equal(one->layer_count, other->layer_count);
    assert_int_equal(one->link_count, other->link_count);
    assert_int_equal(one->fact_count, other->fact_count);
    for (int32_t i = 0; i < one->layer_count; i++) {
        assert_string_equal(one->layers[i].layer.shape, other->layers[i].layer.shape);
        assert_true(one->layers[i].measurement.value == other->layers[i].measurement.value);
    }
    for (int32_t i = 0; i < one->link_count; i++) {
        assert_true(one->links[i].measurement.value == other->links[i].measurement.value);
    }
}

/* Four sorts of layers, each forward, backward and update. */
static void devices_that_differ_are_distinguished(void **state)
{
    const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[0];
    int32_t whole = 0;
    int32_t halves = 0;
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        assert_string_equal(profiler->layers[i].layer.device, "cpu:1");
        whole += profiler->layers[i].layer.part == 1;
        halves += profiler->layers[i].layer.part == 0.5;
    }
    assert_int_equal(whole, 12);
    assert_int_equal(halves, 12);
}

static void every_message_is_measured_at_every_size(void **state)
{
    const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[0];
    static const char *const kinds[] = {"send", "all_gather", "reduce_scatter", "all_reduce"};
    static const int64_t sizes[SIZES] = {8, 1024, LARGEST};
    assert_int_equal(profiler->link_count, 4 * SIZES);
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        assert_string_equal(row->link.link, "cpu:1-cpu:1 within a node");
        assert_string_equal(row->link.collective, kinds[i / SIZES]);
        assert_int_equal(row->bytes, sizes[i % SIZES]);
        assert_true(row->measurement.value > 0);
    }
}

/* With this model, and with any that was not measured there. */
static void what_was_held_besides_is_a_fact_of_the_device(void **state)
{
    const struct yk_profiler *profiler = &((struct measuring *)*state)->surveys[0];
    int32_t of_the_model = 0;
    int32_t of_any = 0;
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        const struct yk_profiler_fact_row *row = &profiler->facts[i];
        if (strcmp(row->fact.fact, YK_PROFILE_FACT_CONTEXT_BYTES) == 0) {
            assert_true(row->measurement.value > 0.9e9 && row->measurement.value < 1e9);
            of_the_model += strcmp(row->fact.subject, "cpu:1 with gpt-nano") == 0;
            of_any += strcmp(row->fact.subject, "cpu:1") == 0;
        } else {
            assert_string_equal(row->fact.subject, "cpu:1-cpu:1 within a node");
            assert_true(row->measurement.value >= 1);
        }
    }
    assert_int_equal(of_the_model, 1);
    assert_int_equal(of_any, 1);
}

/* ---- what a survey that was stopped left ---- */

struct resuming {
    const struct measuring *measuring;
    struct yk_profile *profile;  /* of rank 0 */
    struct yk_profiler *surveys; /* (RANKS) */
    int asked; /* how often rank 0 was asked whether to stop, by what measures in rounds */
};

static bool stop(void *user)
{
    int *asked = user;
    *asked += 1;
    return true;
}

static yk_status resume(int32_t number, int32_t ranks, void *user)
{
    (void)ranks;
    struct resuming *resuming = user;
    int asked = 0;
    struct rank rank = {0};
    struct yk_profiler *profiler = &resuming->surveys[number];
    yk_status status = open_rank(&rank);
    if (status == YK_OK) {
        const struct yk_measuring_ranks all = {.host_communicator = &rank.ranks,
                                               .context = rank.context};
        const struct yk_profiler_request request = {
            .config = resuming->measuring->config,
            .workload = {.batch = 1, .sequence = 8, .precision = YK_PRECISION_FP32},
            .cluster = resuming->measuring->cluster,
            .slowdown_factor = number == 1 ? 2 : 1,
            .versions = "test",
            .callbacks = {.user = &asked, .stop = stop},
        };
        profiler->profile = number == 0 ? resuming->profile : NULL;
        status = yk_profiler_measure_layers(profiler, &all, &request);
    }
    if (number == 0) {
        resuming->asked = asked;
    }
    close_rank(&rank);
    return status;
}

/* How often rank 0 is asked by a survey of what the profile has. */
static int ask_again(const struct measuring *measuring, struct yk_profile *profile)
{
    struct yk_profiler surveys[RANKS];
    struct resuming resuming = {.measuring = measuring, .profile = profile, .surveys = surveys};
    assert_ok(yk_profiler_init(&surveys[0]));
    assert_ok(yk_profiler_init(&surveys[1]));
    assert_ok(yk_thread_world_run(RANKS, resume, &resuming));
    assert_int_equal(surveys[0].layer_count, 0);
    assert_int_equal(surveys[1].layer_count, 0);
    yk_profiler_free(&surveys[0]);
    yk_profiler_free(&surveys[1]);
    return resuming.asked;
}

static void slowdowns_that_a_stopped_survey_left_are_measured_by_the_next(void **state)
{
    const struct measuring *measuring = *state;
    const struct yk_profiler *profiler = &measuring->surveys[0];
    const char *link = "cpu:1-cpu:1 within a node";
    const struct yk_profile_measurement once = {.value = 1, .versions = "test"};
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(":memory:", &profile));
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        const struct yk_profiler_layer_row *row = &profiler->layers[i];
        assert_ok(yk_profile_add_layer_time(profile, &row->layer, row->batch, &row->measurement));
    }
    assert_int_equal(ask_again(measuring, profile), 1);
    assert_ok(yk_profile_add_fact(
        profile, &(struct yk_profile_fact_key){link, YK_PROFILE_FACT_COMPUTE_SLOWDOWN}, &once));
    assert_ok(yk_profile_add_fact(
        profile, &(struct yk_profile_fact_key){link, YK_PROFILE_FACT_MESSAGE_SLOWDOWN}, &once));
    assert_int_equal(ask_again(measuring, profile), 0);
    yk_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_on_different_cpus_are_noticed),
        cmocka_unit_test(every_rank_ends_with_the_same_survey),
        cmocka_unit_test(devices_that_differ_are_distinguished),
        cmocka_unit_test(every_message_is_measured_at_every_size),
        cmocka_unit_test(what_was_held_besides_is_a_fact_of_the_device),
        cmocka_unit_test(slowdowns_that_a_stopped_survey_left_are_measured_by_the_next),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
