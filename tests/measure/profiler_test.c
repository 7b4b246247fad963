#include "support/support.h"

#include "cost/cost.h"
#include "measure/benchmark/benchmark.h"
#include "measure/benchmark/layer_times.h"
#include "measure/profiler/profiler.h"
#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCHES = 2,
    ROUNDS = 9,
};

static const int64_t batches[BATCHES] = {1, 3};

struct place {
    struct yk_arena *arena;
    const struct yk_model_config *config;
    struct yk_cluster *cluster;
    struct yk_device_context context;
    struct yk_backend_lane *lane;
    struct yk_communicator ranks;
    struct yk_measuring_ranks team;
    struct yk_benchmark_model *model;
    struct yk_benchmark *rehearsals[BATCHES];
};

static const struct yk_workload workload = {
    .batch = 3, .sequence = 8, .precision = YK_PRECISION_FP32};

static int make(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place) {
        return -1;
    }
    const struct yk_backend_device_options options = {.threads = 1};
    struct yk_benchmark_model_request request = {.workload = workload, .slowness = 1};
    assert_ok(yk_arena_create(&place->arena));
    assert_ok(yk_model_config_open("gpt-nano", place->arena, &place->config));
    assert_ok(yk_cluster_parse_line("cpu:1", &place->cluster));
    place->context.backend = &yk_backend_cpu;
    assert_ok(yk_backend_cpu.open(&options, &place->context.device));
    assert_ok(yk_backend_cpu.lane_create(place->context.device, "load", &place->context.lane));
    assert_ok(yk_backend_cpu.lane_create(place->context.device, "comm", &place->lane));
    const struct yk_comm_options comm = {
        .backend = &yk_backend_cpu, .device = place->context.device, .lane = place->lane};
    assert_ok(yk_communicator_open(&yk_comm_self, &comm, &place->ranks));
    place->team =
        (struct yk_measuring_ranks){.host_communicator = &place->ranks, .context = place->context};
    request.config = place->config;
    assert_ok(yk_benchmark_model_create(&request, place->cluster, &place->context, &place->model));
    for (int i = 0; i < BATCHES; i++) {
        assert_ok(yk_benchmark_create(place->model, batches[i], &place->rehearsals[i]));
    }
    *state = place;
    return 0;
}

static int unmake(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < BATCHES; i++) {
        yk_benchmark_destroy(place->rehearsals[i]);
    }
    yk_benchmark_model_destroy(place->model);
    yk_communicator_close(&place->ranks);
    yk_backend_cpu.lane_destroy(place->lane);
    yk_backend_cpu.lane_destroy(place->context.lane);
    yk_backend_cpu.close(place->context.device);
    yk_cluster_destroy(place->cluster);
    yk_arena_destroy(place->arena);
    free(place);
    return 0;
}

static void a_round_of_a_rehearsal_is_a_whole_step(void **state)
{
    struct place *place = *state;
    struct yk_benchmark *benchmark = place->rehearsals[1];
    const struct yk_op_list *list = &yk_benchmark_get_program(benchmark)->ranks[0];
    const struct yk_benchmark_step_times *round = NULL;
    int32_t counts[YK_OP_KIND_COUNT] = {0};
    assert_ok(yk_benchmark_allocate_memory(benchmark));
    for (int i = 0; i < 2; i++) {
        assert_ok(yk_benchmark_enqueue_step(benchmark));
        assert_ok(yk_benchmark_wait_for_oldest_step(benchmark, &round));
    }
    assert_true(round->whole);
    for (int32_t i = 0; i < list->op_count; i++) {
        counts[list->ops[i].kind]++;
        assert_true(round->op_s[i] >= 0);
        assert_true(round->end_s[i] >= round->begin_s[i]);
    }
    /* gpt-nano: embed, three blocks, norm and head, whose weights are not the embedding's. */
    assert_int_equal(counts[YK_OP_FORWARD], 6 * 2);
    assert_int_equal(counts[YK_OP_BACKWARD], 6 * 2);
    assert_int_equal(counts[YK_OP_UPDATE], 6);
    assert_true(yk_benchmark_allocated_bytes(benchmark) > 0);
}

static struct yk_layer_times_entry *find(struct yk_layer_times *times, const char *kind,
                                         const char *pass, int64_t batch)
{
    for (int32_t i = 0; i < times->count; i++) {
        struct yk_layer_times_entry *time = &times->times[i];
        if (strcmp(time->kind, kind) == 0 && strcmp(time->pass, pass) == 0 &&
            time->batch == batch) {
            return time;
        }
    }
    fail_msg("no %s of %s for %d", pass, kind, (int)batch);
    return NULL;
}

/* Forward takes 1 s and a sample, backward twice that, and of the first micro-batch 0.5 s more;
 * an update takes 4 s. Now and then an op is held up for a hundred times as
 * long. */
static double made_up_s(const struct yk_op *op, int64_t samples, int32_t round)
{
    const double spike = (op->layer + round) % 5 == 0 ? 100 : 1;
    switch (op->kind) {
    case YK_OP_FORWARD:
        return spike * (1 + (double)samples);
    case YK_OP_BACKWARD:
        return 2 * (1 + (double)samples) + (op->micro_batch == 0 ? 0.5 : 0);
    case YK_OP_UPDATE:
        return 4;
    default:
        return 0;
    }
}

static void rounds_become_medians_by_layer_and_batch(void **state)
{
    struct place *place = *state;
    struct yk_layer_times *times = NULL;
    assert_ok(yk_layer_times_create(place->model->description, batches, BATCHES, &times));
    for (int32_t batch = 0; batch < BATCHES; batch++) {
        const struct yk_program *program = yk_benchmark_get_program(place->rehearsals[batch]);
        const struct yk_op_list *list = &program->ranks[0];
        double *op_s = calloc((size_t)list->op_count, sizeof *op_s);
        assert_non_null(op_s);
        for (int32_t round = 0; round < ROUNDS; round++) {
            for (int32_t i = 0; i < list->op_count; i++) {
                op_s[i] = made_up_s(&list->ops[i], batches[batch], round);
            }
            assert_ok(yk_layer_times_add_step(times, program, batch, op_s));
        }
        free(op_s);
    }
    /* Three blocks are one sort: three times as many timings. */
    struct yk_timings *block = &find(times, "gpt-block", "forward", 3)->timings;
    assert_int_equal(block->count, 3 * ROUNDS);
    assert_true(yk_timings_summarize(block, "").value == 4);
    assert_true(yk_timings_summarize(&find(times, "head", "forward", 1)->timings, "").value == 2);
    assert_true(yk_timings_summarize(&find(times, "head", "backward", 3)->timings, "").value == 8);
    struct yk_timings *update = &find(times, "head", "update", 1)->timings;
    assert_true(yk_timings_summarize(update, "").value == 4.5);
    yk_layer_times_destroy(times);
}

/* Backward takes 1 s, of the second micro-batch, which something held up, 10 s; an update 2 s. */
static void an_update_is_no_shorter_than_it_ran(void **state)
{
    struct place *place = *state;
    struct yk_layer_times *times = NULL;
    const struct yk_program *program = yk_benchmark_get_program(place->rehearsals[0]);
    const struct yk_op_list *list = &program->ranks[0];
    double *op_s = calloc((size_t)list->op_count, sizeof *op_s);
    assert_non_null(op_s);
    for (int32_t i = 0; i < list->op_count; i++) {
        const bool held_up = list->ops[i].kind == YK_OP_BACKWARD && list->ops[i].micro_batch > 0;
        op_s[i] = list->ops[i].kind == YK_OP_UPDATE ? 2 : held_up ? 10 : 1;
    }
    assert_ok(yk_layer_times_create(place->model->description, batches, BATCHES, &times));
    assert_ok(yk_layer_times_add_step(times, program, 0, op_s));
    struct yk_timings *update = &find(times, "head", "update", 1)->timings;
    assert_true(yk_timings_summarize(update, "").value == 2);
    yk_layer_times_destroy(times);
    free(op_s);
}

static double no_bytes(const struct yk_device_context *context)
{
    (void)context;
    return 1e12;
}

static void what_a_survey_kept_prices_every_layer(void **state)
{
    struct place *place = *state;
    char folder[] = "/tmp/yoke-survey-XXXXXX";
    char path[64];
    struct yk_profile *profile = NULL;
    struct yk_profiler profiler;
    const struct yk_model *model = NULL;
    const struct yk_profiler_request request = {.config = place->config,
                                                .workload = workload,
                                                .cluster = place->cluster,
                                                .slowdown_factor = 1,
                                                .used_bytes = no_bytes,
                                                .versions = "test"};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/profile.db", folder);
    assert_ok(yk_profiler_init(&profiler));
    assert_ok(yk_profile_open_or_create(path, &profile));
    profiler.profile = profile;
    assert_ok(yk_profiler_measure_layers(&profiler, &place->team, &request));
    assert_false(profiler.stopped);

    const struct yk_cost_sources sources = {.cluster = place->cluster, .profile = profile};
    assert_ok(yk_model_build(place->config, &workload, place->arena, &model));
    for (int32_t l = 0; l < model->layer_count; l++) {
        for (int pass = YK_COST_PASS_FORWARD; pass <= YK_COST_PASS_UPDATE; pass++) {
            struct yk_cost_time_estimate time = {0};
            assert_ok(yk_cost_layer_time(&sources, 0, model, &model->layers[l],
                                         (enum yk_cost_pass)pass, &time));
            assert_int_equal(time.origin, YK_COST_ORIGIN_MEASURED);
            assert_true(time.seconds > 0);
        }
    }
    /* All of it is known, so that nothing is measured a second time, unless versions differ. */
    struct yk_profiler second;
    assert_ok(yk_profiler_init(&second));
    second.profile = profile;
    assert_ok(yk_profiler_measure_layers(&second, &place->team, &request));
    assert_int_equal(second.layer_count, 0);
    assert_int_equal(second.skipped_count, 3); /* batches of 1, 2 and 3 */
    yk_profiler_free(&second);
    struct yk_profiler_request newer = request;
    newer.versions = "another";
    assert_ok(yk_profiler_init(&second));
    second.profile = profile;
    assert_ok(yk_profiler_measure_layers(&second, &place->team, &newer));
    assert_int_equal(second.layer_count, profiler.layer_count);
    yk_profiler_free(&second);
    struct yk_device_measurements *measurements = NULL;
    assert_true(yk_device_measurements_context_bytes(NULL, place->cluster, 0) < 1e9); /* assumed */
    assert_ok(yk_device_measurements_read(profile, place->config->name, place->cluster,
                                          place->arena, &measurements));
    assert_true(yk_device_measurements_context_bytes(measurements, place->cluster, 0) > 0.9e12);
    yk_profile_close(profile);
    yk_profiler_free(&profiler);
    unlink(path);
    rmdir(folder);
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

static void a_survey_that_is_stopped_has_what_there_is(void **state)
{
    struct place *place = *state;
    struct yk_profiler profiler;
    const struct yk_profiler_request request = {.config = place->config,
                                                .workload = workload,
                                                .cluster = place->cluster,
                                                .slowdown_factor = 1,
                                                .used_bytes = no_bytes,
                                                .versions = "test",
                                                .callbacks = {.stop = at_once}};
    assert_ok(yk_profiler_init(&profiler));
    assert_ok(yk_profiler_measure_layers(&profiler, &place->team, &request));
    assert_true(profiler.stopped);
    assert_int_equal(profiler.layer_count, 0);
    yk_profiler_free(&profiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_round_of_a_rehearsal_is_a_whole_step, make, unmake),
        cmocka_unit_test_setup_teardown(rounds_become_medians_by_layer_and_batch, make, unmake),
        cmocka_unit_test_setup_teardown(an_update_is_no_shorter_than_it_ran, make, unmake),
        cmocka_unit_test_setup_teardown(what_a_survey_kept_prices_every_layer, make, unmake),
        cmocka_unit_test_setup_teardown(a_survey_that_is_stopped_has_what_there_is, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
