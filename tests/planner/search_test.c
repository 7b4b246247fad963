/* What the searches must find: held against trying every map, and against cases made for each of
 * their parts. */
#include "planner/placement/placement.h"
#include "planner/placement/placement_search.h"
#include "support/clusters/stated_times.h"
#include "support/support.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYERS = 6, /* of gpt-nano */
    DEVICES = 3
};

static struct yk_cost_sources sources;

static struct yk_placement_request request_for(const struct yk_cluster *cluster, const char *model,
                                               int64_t batch)
{
    struct yk_placement_request request = {
        .cost_sources = &sources,
        .workload = {.batch = batch, .sequence = 128, .precision = YK_PRECISION_BF16},
        .search = {.moves = 2000, .seed = 1},
    };
    sources = (struct yk_cost_sources){.cluster = cluster};
    assert_ok(yk_model_config_find_builtin(model, &request.config));
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

static bool is_consecutive(const int32_t *devices)
{
    bool left[DEVICES] = {false};
    for (int l = 1; l < LAYERS; l++) {
        if (devices[l] != devices[l - 1]) {
            left[devices[l - 1]] = true;
        }
        if (left[devices[l]]) {
            return false;
        }
    }
    return true;
}

/* The shortest steps of all maps that fit: of any, and of those in consecutive stages. */
struct optima {
    double any_s;
    double consecutive_s;
};

static struct optima try_everything(const struct yk_step_graph *step)
{
    struct optima optima = {INFINITY, INFINITY};
    struct yk_schedule *schedule = NULL;
    assert_ok(yk_schedule_create(step->graph, &schedule));
    for (int code = 0; code < 729; code++) {
        int32_t devices[4 * LAYERS] = {0};
        struct yk_placement_memory_fit fit;
        for (int i = 0; i < step->micro_batch_count * LAYERS; i++) {
            devices[i] = code / (int)pow(DEVICES, i % LAYERS) % DEVICES;
        }
        assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
        const double step_s = yk_graph_ticks_to_time(step->graph, schedule->makespan);
        if (fit.fits) {
            optima.any_s = fmin(optima.any_s, step_s);
        }
        if (fit.fits && is_consecutive(devices)) {
            optima.consecutive_s = fmin(optima.consecutive_s, step_s);
        }
    }
    yk_schedule_destroy(schedule);
    return optima;
}

/* The driver takes 0.7 GiB; gpt-nano's weights and state are 1.6 MB, its activations 0.6 MB a
 * sample: some of these hold all of it, some a part, some next to nothing. */
static const char *const memories[] = {"717.3MiB", "718MiB", "718.6MiB", "719.5MiB", "2GiB"};

static struct yk_cluster *draw_cluster(uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed);
    struct made_up_device devices[DEVICES];
    for (int p = 0; p < DEVICES; p++) {
        double times[4];
        for (int i = 0; i < 4; i++) {
            times[i] = (double)(1 + yk_random_below(&random, 8)) / 1000;
        }
        devices[p] = (struct made_up_device){memories[yk_random_below(&random, 5)], times[0],
                                             times[1], times[2], times[3]};
    }
    return made_up_cluster(devices, DEVICES, "100MB/s");
}

static void the_searches_are_near_the_best_of_all_maps(void **state)
{
    (void)state;
    double pipeline_excess = 0;
    double best_excess = 0;
    int fitting = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct yk_cluster *cluster = draw_cluster(seed);
        struct yk_placement_request request = request_for(cluster, "gpt-nano", 4);
        struct yk_placements *placements = NULL;
        request.micro_batches = 1 + (int32_t)(seed % 4);
        assert_ok(yk_placement_compare_algorithms(&request, &placements));
        const struct yk_placement *pipeline = find(placements, "pipeline");
        const struct yk_placement *best = find(placements, "best");
        const struct optima optima = try_everything(best->step);
        assert_true(!isfinite(optima.any_s) || best->fit.fits);
        assert_true(!isfinite(optima.consecutive_s) || pipeline->fit.fits);
        if (isfinite(optima.consecutive_s)) {
            assert_true(best->bound_s <= optima.any_s * (1 + 1e-9));
            pipeline_excess += fmax(0, pipeline->step_s / optima.consecutive_s - 1);
            best_excess += fmax(0, best->step_s / optima.any_s - 1);
            fitting++;
        }
        yk_placements_destroy(placements);
        yk_cluster_destroy(cluster);
    }
    assert_true(fitting > 30);
    if (pipeline_excess / fitting > 0.02 || best_excess / fitting > 0.02) {
        fail_msg("pipeline is %.4f and best %.4f over the optimum", pipeline_excess / fitting,
                 best_excess / fitting);
    }
}

/* What is printed, exported and read back is what was scheduled. */
static void the_map_is_where_the_layers_run(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 120; seed++) {
        struct yk_cluster *cluster = draw_cluster(seed);
        struct yk_placement_request request = request_for(cluster, "gpt-nano", 2);
        struct yk_placements *placements = NULL;
        request.micro_batches = 2;
        assert_ok(yk_placement_compare_algorithms(&request, &placements));
        for (int32_t i = 0; i < placements->count; i++) {
            const struct yk_placement *placement = &placements->placements[i];
            for (int32_t l = 0; placement->schedule && l < LAYERS; l++) {
                const struct yk_layer *layer = &placement->step->model->layers[l];
                assert_int_equal(yk_device_map_find_place(placement->map, layer->modules[0]),
                                 placement->devices[l]);
                assert_int_equal(placement->schedule->devices[placement->step->update[l]],
                                 placement->devices[l]);
            }
        }
        yk_placements_destroy(placements);
        yk_cluster_destroy(cluster);
    }
}

/* Four micro-batches through two equal devices, the cut after the first layer: it has to move by
 * two layers to be even, and each of the two moves helps. */
static void refining_moves_a_cut_to_where_it_belongs(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {{"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}};
    struct yk_cluster *cluster = made_up_cluster(devices, 2, "1000TB/s");
    const struct yk_placement_request request = request_for(cluster, "gpt-nano", 4);
    const struct yk_step_graph_spec spec = {&sources, request.config, request.workload, 4};
    struct yk_step_graph *step = NULL;
    struct yk_placement_search contest;
    struct yk_placement_memory_fit fit;
    int32_t map[4 * LAYERS];
    for (int i = 0; i < 4 * LAYERS; i++) {
        map[i] = i % LAYERS == 0 ? 0 : 1;
    }
    assert_ok(yk_step_graph_create(&spec, &step));
    assert_ok(yk_placement_search_create(step, NULL, &contest));
    assert_ok(yk_placement_evaluate_device_map(step, map, contest.trial, &fit));
    assert_ok(yk_placement_search_try_schedule(&contest, contest.trial));
    assert_true(contest.step_s > 4 * 15); /* five layers of 3 s on one device */
    assert_ok(yk_placement_search_refine_stage_cuts(&contest));
    for (int l = 0; l < LAYERS; l++) {
        assert_int_equal(contest.best->devices[step->forward[l]], l < 3 ? 0 : 1);
    }
    yk_placement_search_free(&contest);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

/* With free links, the more micro-batches, the less of the pipeline is filling and draining. */
static void a_pipeline_has_as_many_micro_batches_as_help(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {
        {"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}};
    struct yk_cluster *cluster = made_up_cluster(devices, 3, "1000TB/s");
    struct yk_placement_request request = request_for(cluster, "gpt-nano", 16);
    struct yk_placements *placements = NULL;
    request.algorithm = "pipeline";
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    const struct yk_placement *pipeline = find(placements, "pipeline");
    assert_int_equal(pipeline->step->micro_batch_count, 16);
    /* Two layers a stage, 6 s a micro-batch: 16 of them, and two more for the other stages. */
    assert_true(fabs(pipeline->step_s - 18 * 6) < 0.01);
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

/* Two fast devices among sixteen that are all unlike: too many kinds to try every combination. */
static void of_many_unlike_devices_the_fast_ones_are_used(void **state)
{
    (void)state;
    struct made_up_device devices[16];
    for (int p = 0; p < 16; p++) {
        const double time = p < 2 ? 1 + 0.1 * p : 50 + p;
        devices[p] = (struct made_up_device){"2GiB", time, time, time, time};
    }
    struct yk_cluster *cluster = made_up_cluster(devices, 16, "32GB/s");
    struct yk_placement_request request = request_for(cluster, "gpt-nano", 8);
    struct yk_placements *placements = NULL;
    request.algorithm = "pipeline";
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_true(find(placements, "pipeline")->step_s < 8 * 18);
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

static void what_using_all_devices_would_cost_is_said(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {{"2GiB", 1, 1, 1, 1}, {"2GiB", 50, 50, 50, 50}};
    struct yk_cluster *cluster = made_up_cluster(devices, 2, "32GB/s");
    struct yk_placement_request request = request_for(cluster, "gpt-nano", 2);
    struct yk_placements *placements = NULL;
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_non_null(placements->note);
    const char *comma = strstr(placements->note, "), ");
    char *end = NULL;
    assert_non_null(comma);
    assert_true(strtod(comma + strlen("), "), &end) > 0);
    assert_string_equal(end, " % longer");
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

/* One of two nodes alone is faster than both over a slow link between them. */
static void a_node_by_itself_is_a_candidate(void **state)
{
    (void)state;
    double steps_s[2];
    for (int i = 0; i < 2; i++) {
        struct yk_cluster *cluster = NULL;
        assert_ok(yk_cluster_parse_line(i == 0 ? "1xa100-80 + 1xrtx3090 @ pcie4"
                                               : "2x(1xa100-80 + 1xrtx3090 @ pcie4) @ 1GbE",
                                        &cluster));
        struct yk_placement_request request = request_for(cluster, "gpt2-xl", 8);
        struct yk_placements *placements = NULL;
        request.algorithm = "best";
        request.micro_batches = 4;
        request.workload.sequence = 1024;
        assert_ok(yk_placement_compare_algorithms(&request, &placements));
        steps_s[i] = placements->placements[0].step_s;
        yk_placements_destroy(placements);
        yk_cluster_destroy(cluster);
    }
    assert_true(steps_s[1] <= steps_s[0] * 1.03);
}

/* What the hosts hold is where Accelerate puts what the GPUs do not. */
static void auto_spills_to_the_hosts_memory_where_there_is_any(void **state)
{
    (void)state;
    static const char *const hosts[] = {"", ",\"host_memory\":\"8GiB\""};
    static const int32_t places[] = {YK_DEVICE_MAP_DISK, YK_DEVICE_MAP_CPU};
    for (int i = 0; i < 2; i++) {
        struct yk_cluster *cluster = NULL;
        struct yk_placements *placements = NULL;
        char text[256];
        snprintf(text, sizeof text,
                 "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[{\"name\":\"a\",\"type\":"
                 "\"rtx3090\",\"memory\":\"200MiB\"}]%s}",
                 hosts[i]);
        assert_ok(yk_cluster_read_json(text, strlen(text), "c.json", &cluster));
        struct yk_placement_request request = request_for(cluster, "gpt2", 1);
        request.algorithm = "auto";
        assert_ok(yk_placement_compare_algorithms(&request, &placements));
        const struct yk_device_map *map = placements->placements[0].map;
        assert_int_equal(yk_device_map_find_place(map, "transformer.h.11"), places[i]);
        assert_non_null(placements->placements[0].refusal);
        yk_placements_destroy(placements);
        yk_cluster_destroy(cluster);
    }
}

/* GPT-2 with adapters of rank 8 on 16 tokens: in 16 bits 268 MB, in NF4, with an fp32 embedding of
 * 158 MB, 221 MB. The driver takes 717 MiB of each device. */
static void assert_remedy(const char *first, const char *second, bool nf4, const char *expected)
{
    const struct made_up_device devices[] = {{first, 1e-3, 1e-3, 1e-3, 1e-3},
                                             {second, 1e-3, 1e-3, 1e-3, 1e-3}};
    struct yk_cluster *cluster = made_up_cluster(devices, 2, "32GB/s");
    struct yk_placement_request request = request_for(cluster, "gpt2", 1);
    struct yk_text words = {0};
    struct yk_placements *placements = NULL;
    request.workload.sequence = 16;
    request.workload.lora_rank = 8;
    request.workload.nf4 = nf4;
    assert_ok(yk_placement_compare_algorithms(&request, &placements));
    assert_int_equal(placements->winner, -1);
    assert_ok(yk_placement_find_memory_remedy(&request, NULL, &words));
    if (!strstr(words.bytes, expected)) {
        fail_msg("\"%s\" does not offer %s", words.bytes, expected);
    }
    yk_text_free(&words);
    yk_placements_destroy(placements);
    yk_cluster_destroy(cluster);
}

static void nf4_is_offered_where_it_makes_room(void **state)
{
    (void)state;
    assert_remedy("950MiB", "720MiB", false, "cheapest remedy: --nf4 (");
}

/* One more of the small one would not do. */
static void one_more_of_the_largest_device_is_the_last_remedy(void **state)
{
    (void)state;
    assert_remedy("900MiB", "725MiB", true, "one more device like the largest");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_searches_are_near_the_best_of_all_maps),
        cmocka_unit_test(the_map_is_where_the_layers_run),
        cmocka_unit_test(refining_moves_a_cut_to_where_it_belongs),
        cmocka_unit_test(a_pipeline_has_as_many_micro_batches_as_help),
        cmocka_unit_test(of_many_unlike_devices_the_fast_ones_are_used),
        cmocka_unit_test(what_using_all_devices_would_cost_is_said),
        cmocka_unit_test(a_node_by_itself_is_a_candidate),
        cmocka_unit_test(auto_spills_to_the_hosts_memory_where_there_is_any),
        cmocka_unit_test(nf4_is_offered_where_it_makes_room),
        cmocka_unit_test(one_more_of_the_largest_device_is_the_last_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
