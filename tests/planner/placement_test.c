#include "planner/placement/placement.h"
#include "support/clusters/stated_times.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

/* gpt-nano: embed, three blocks, norm, head; forward and backward of a sample are 18 times the
 * seconds of a layer on a device where all layers take the same. */
enum {
    LAYERS = 6
};

static struct yk_cost_sources sources;

static struct yk_placement_request request_for(const struct yk_cluster *cluster, int64_t batch)
{
    struct yk_placement_request request = {
        .cost_sources = &sources,
        .workload = {.batch = batch, .sequence = 128, .precision = YK_PRECISION_BF16},
        .search = {.moves = 2000, .seed = 1},
    };
    sources = (struct yk_cost_sources){.cluster = cluster};
    assert_ok(yk_model_config_find_builtin("gpt-nano", &request.config));
    return request;
}

static const struct yk_placement *find(const struct yk_placements *placements, const char *name)
{
    for (int32_t i = 0; i < placements->count; i++) {
        if (strcmp(placements->placements[i].name, name) == 0) {
            return &placements->placements[i];
        }
    }
    fail_msg("there is no placement %s", name);
    return NULL;
}

static void assert_step(const struct yk_placements *placements, const char *name, double expected)
{
    const double step_s = find(placements, name)->step_s;
    if (fabs(step_s - expected) > 1e-6 * expected) {
        fail_msg("%s takes %.9g, not %.9g", name, step_s, expected);
    }
}

/* On a chain HEFT ends on the fastest device, whatever the others are. */
static void heft_places_a_chain_on_the_fastest_device(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {
        {"2GiB", 2, 2, 2, 2}, {"2GiB", 1, 1, 1, 1}, {"2GiB", 3, 3, 3, 3}};
    struct yk_cluster *cluster = made_up_cluster(devices, 3, "32GB/s");
    struct yk_placement_request request = request_for(cluster, 1);
    struct yk_placements *placements = NULL;
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_step(placements, "heft", 18);
    assert_step(placements, "best", 18);
    for (int32_t l = 0; l < LAYERS; l++) {
        assert_int_equal(find(placements, "heft")->devices[l], 1);
    }
    assert_int_equal(find(placements, "heft")->peak_bytes[0], 0);
    assert_true(find(placements, "heft")->peak_bytes[1] > 0);
    assert_non_null(strstr(placements->note, "2 of 3 devices stay idle"));
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

/* Three equal devices and three samples: one each is three times as fast, but for the exchange of
 * gradients; nothing beats the work shared evenly. */
static void best_uses_all_devices_where_that_is_faster(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {
        {"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}};
    struct yk_cluster *cluster = made_up_cluster(devices, 3, "32GB/s");
    struct yk_placement_request request = request_for(cluster, 3);
    struct yk_placements *placements = NULL;
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    const struct yk_placement *best = find(placements, "best");
    assert_true(best->step_s >= 18 && best->step_s < 18.1);
    assert_true(best->bound_s <= best->step_s && best->bound_s > 17.9);
    assert_true(best->divided);
    assert_int_equal(yk_schedule_count_used_devices(best->schedule), 3);
    assert_string_equal(placements->placements[placements->winner].name, "best");
    assert_null(placements->note);
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

/* A pipeline never divides a layer, and is never worse than the best single device. */
static void random_clusters_keep_the_order_of_the_ways(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct made_up_device devices[4];
        double fastest = INFINITY;
        const int count = 1 + (int)yk_random_below(&random, 4);
        for (int p = 0; p < count; p++) {
            double times[4];
            for (int i = 0; i < 4; i++) {
                times[i] = (double)(1 + yk_random_below(&random, 8)) / 1000;
            }
            devices[p] = (struct made_up_device){"2GiB", times[0], times[1], times[2], times[3]};
            fastest = fmin(fastest, 3 * (times[0] + 3 * times[1] + times[2] + times[3]));
        }
        const int64_t batch = 1 + yk_random_below(&random, 6);
        struct yk_cluster *cluster = made_up_cluster(devices, count, "100MB/s");
        struct yk_placement_request request = request_for(cluster, batch);
        struct yk_placements *placements = NULL;
        assert_ok(yk_placement_compare_algorithms(&request, &placements));
        const double heft_s = find(placements, "heft")->step_s;
        const double pipeline_s = find(placements, "pipeline")->step_s;
        const double best_s = find(placements, "best")->step_s;
        assert_true(pipeline_s <= fastest * (double)batch * (1 + 1e-6));
        assert_true(best_s <= pipeline_s && best_s <= heft_s);
        assert_false(find(placements, "pipeline")->divided);
        for (int32_t i = 0; i < placements->count; i++) {
            const struct yk_placement *placement = &placements->placements[i];
            assert_true(placement->bound_s <= placement->step_s * (1 + 1e-9));
            checker_assert_valid(placement->schedule, placement->name);
        }
        yk_placements_destroy(placements);
        yk_cluster_destroy(cluster);
    }
}

static void a_model_that_fits_nowhere_has_no_winner_and_a_remedy(void **state)
{
    (void)state;
    /* The driver leaves nothing of it. */
    static const struct made_up_device device = {"700MiB", 1, 1, 1, 1};
    struct yk_cluster *cluster = made_up_cluster(&device, 1, "32GB/s");
    struct yk_placement_request request = request_for(cluster, 2);
    struct yk_placements *placements = NULL;
    struct yk_text words = {0};
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_int_equal(placements->winner, -1);
    assert_false(find(placements, "best")->fit.fits);
    /* The driver's part counts, too. */
    const struct yk_placement *best = find(placements, "best");
    assert_int_equal(best->fit.missing_bytes, best->peak_bytes[0] - (700 << 20));
    assert_ok(yk_placement_find_memory_remedy(&request, NULL, &words));
    assert_non_null(strstr(words.bytes, "nor one more device is enough"));
    yk_text_free(&words);
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

/* All 8000 samples at once save more than the device holds; a part of them at a time does not. */
static void more_micro_batches_are_offered_where_they_help(void **state)
{
    (void)state;
    static const struct made_up_device device = {"2GiB", 1, 1, 1, 1};
    struct yk_cluster *cluster = made_up_cluster(&device, 1, "32GB/s");
    struct yk_placement_request request = request_for(cluster, 8000);
    struct yk_placements *placements = NULL;
    struct yk_text words = {0};
    request.micro_batches = 1;
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_int_equal(placements->winner, -1);
    assert_ok(yk_placement_find_memory_remedy(&request, NULL, &words));
    assert_non_null(strstr(words.bytes, "micro-batches"));
    yk_text_free(&words);
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

static void only_the_requested_method_runs(void **state)
{
    (void)state;
    static const struct made_up_device device = {"2GiB", 1, 1, 1, 1};
    struct yk_cluster *cluster = made_up_cluster(&device, 1, "32GB/s");
    struct yk_placement_request request = request_for(cluster, 1);
    struct yk_placements *placements = NULL;
    request.algorithm = "heft";
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_int_equal(placements->count, 1);
    assert_string_equal(placements->placements[0].name, "heft");
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heft_places_a_chain_on_the_fastest_device),
        cmocka_unit_test(best_uses_all_devices_where_that_is_faster),
        cmocka_unit_test(random_clusters_keep_the_order_of_the_ways),
        cmocka_unit_test(a_model_that_fits_nowhere_has_no_winner_and_a_remedy),
        cmocka_unit_test(more_micro_batches_are_offered_where_they_help),
        cmocka_unit_test(only_the_requested_method_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
