#include "support/support.h"

#include "measure/benchmark/benchmark.h"
#include "measure/benchmark/reduced_model.h"
#include "model/config.h"

#include <math.h>

static const struct yk_workload workload = {
    .batch = 8, .sequence = 64, .precision = YK_PRECISION_FP32};

struct place {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_reduced_model_request request;
};

static int make(void **state)
{
    static struct place place;
    assert_ok(yk_arena_create(&place.arena));
    assert_ok(yk_cluster_parse_line("cpu:1:64GiB", &place.cluster));
    place.request = (struct yk_reduced_model_request){
        .workload = workload, .cluster = place.cluster, .free_bytes = 1e15, .step_s = INFINITY};
    assert_ok(yk_model_config_open("gpt2", place.arena, &place.request.config));
    *state = &place;
    return 0;
}

static int unmake(void **state)
{
    struct place *place = *state;
    yk_cluster_destroy(place->cluster);
    yk_arena_destroy(place->arena);
    return 0;
}

static double bytes_of(const struct place *place, const struct yk_model_config *config,
                       int64_t samples)
{
    struct yk_benchmark_step_program plan = {0};
    double bytes = 0;
    assert_ok(yk_benchmark_step_program_make(config, &workload, place->cluster, samples,
                                             place->arena, &plan));
    assert_ok(yk_benchmark_step_program_peak_bytes(&plan, place->arena, &bytes));
    yk_benchmark_step_program_free(&plan);
    return bytes;
}

static void what_fits_stays_whole(void **state)
{
    const struct place *place = *state;
    struct yk_reduced_model made;
    assert_ok(yk_reduced_model_choose_blocks(&place->request, place->arena, &made));
    assert_true(made.whole);
    assert_int_equal(made.config->layers, 12);
    assert_int_equal(made.batch, 8);
}

static void what_does_not_fit_has_the_most_blocks_that_do(void **state)
{
    const struct place *place = *state;
    const struct yk_model_config *eight = NULL;
    struct yk_reduced_model_request request = place->request;
    struct yk_reduced_model made;
    assert_ok(yk_reduced_model_make_config(request.config, 8, place->arena, &eight));
    request.free_bytes = bytes_of(place, eight, 8);
    assert_ok(yk_reduced_model_choose_blocks(&request, place->arena, &made));
    assert_false(made.whole);
    assert_int_equal(made.config->layers, 8);
    request.free_bytes -= 1;
    assert_ok(yk_reduced_model_choose_blocks(&request, place->arena, &made));
    assert_int_equal(made.config->layers, 4);
    assert_int_equal(made.batch, 8);
}

static void with_two_blocks_samples_are_what_gives_way(void **state)
{
    const struct place *place = *state;
    const struct yk_model_config *two = NULL;
    struct yk_reduced_model_request request = place->request;
    struct yk_reduced_model made;
    assert_ok(yk_reduced_model_make_config(request.config, 2, place->arena, &two));
    request.free_bytes = bytes_of(place, two, 2);
    assert_ok(yk_reduced_model_choose_blocks(&request, place->arena, &made));
    assert_int_equal(made.config->layers, 2);
    assert_int_equal(made.batch, 2);
    request.free_bytes = 1e6; /* not even its embedding */
    assert_ok(yk_reduced_model_choose_blocks(&request, place->arena, &made));
    assert_int_equal(made.batch, 0);
}

static void what_is_too_slow_is_truncated(void **state)
{
    const struct place *place = *state;
    struct yk_reduced_model_request request = place->request;
    struct yk_reduced_model made;
    request.step_s = 1e-9;
    assert_ok(yk_reduced_model_choose_blocks(&request, place->arena, &made));
    assert_int_equal(made.config->layers, 2);
    assert_int_equal(made.batch, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_fits_stays_whole, make, unmake),
        cmocka_unit_test_setup_teardown(what_does_not_fit_has_the_most_blocks_that_do, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(with_two_blocks_samples_are_what_gives_way, make, unmake),
        cmocka_unit_test_setup_teardown(what_is_too_slow_is_truncated, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
