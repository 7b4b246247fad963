#include "planner/placement/placement_search.h"

#include "base/random.h"
#include "support/clusters/stated_times.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

enum {
    LAYERS = 6, /* of gpt-nano */
    DEVICES = 3,
    MICRO_BATCHES = 4
};

/* Seconds of each layer, forward and backward, on each device. */
struct times {
    double s[LAYERS][DEVICES];
};

static struct times times_of(const struct made_up_device *devices)
{
    struct times times;
    for (int p = 0; p < DEVICES; p++) {
        for (int l = 0; l < LAYERS; l++) {
            const double forward_s = l == 0   ? devices[p].embed_s
                                     : l <= 3 ? devices[p].block_s
                                     : l == 4 ? devices[p].norm_s
                                              : devices[p].head_s;
            times.s[l][p] = 3 * forward_s;
        }
    }
    return times;
}

static double slowest_stage(const struct times *times, const int32_t *devices)
{
    double sums[DEVICES] = {0};
    double slowest = 0;
    for (int l = 0; l < LAYERS; l++) {
        sums[devices[l]] += times->s[l][devices[l]];
        slowest = fmax(slowest, sums[devices[l]]);
    }
    return slowest;
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

/* The least slowest stage of all maps into consecutive stages, tried one by one. */
static double try_everything(const struct times *times)
{
    double best = INFINITY;
    for (int code = 0; code < 729; code++) {
        int32_t devices[LAYERS];
        for (int l = 0, rest = code; l < LAYERS; l++, rest /= DEVICES) {
            devices[l] = rest % DEVICES;
        }
        if (is_consecutive(devices)) {
            best = fmin(best, slowest_stage(times, devices));
        }
    }
    return best;
}

static struct yk_step_graph *make_step_of(const struct yk_cluster *cluster, const char *model,
                                          int32_t micro_batches)
{
    static struct yk_cost_sources sources;
    struct yk_step_graph *step = NULL;
    sources = (struct yk_cost_sources){.cluster = cluster};
    struct yk_step_graph_spec spec = {
        .cost_sources = &sources,
        .workload = {.batch = micro_batches, .sequence = 128, .precision = YK_PRECISION_BF16},
        .micro_batches = micro_batches,
    };
    assert_ok(yk_model_config_find_builtin(model, &spec.config));
    assert_ok(yk_step_graph_create(&spec, &step));
    return step;
}

static struct yk_step_graph *make_step(const struct yk_cluster *cluster)
{
    return make_step_of(cluster, "gpt-nano", MICRO_BATCHES);
}

static double draw(struct yk_random *random)
{
    return (double)(1 + yk_random_below(random, 20)) / 4;
}

static void the_proposals_hold_the_cut_with_the_fastest_slowest_stage(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct yk_random random = yk_random_from_seed(seed);
        struct made_up_device devices[DEVICES];
        for (int p = 0; p < DEVICES; p++) {
            devices[p] = (struct made_up_device){"2GiB", draw(&random), draw(&random),
                                                 draw(&random), draw(&random)};
        }
        if (seed % 3 == 0) {
            devices[1] = devices[0]; /* two of a kind */
        }
        const struct times times = times_of(devices);
        struct yk_cluster *cluster = made_up_cluster(devices, DEVICES, "1GB/s");
        struct yk_step_graph *step = make_step(cluster);
        struct yk_pipeline_stages_assignments list;
        double best = INFINITY;
        assert_ok(yk_pipeline_stages_propose_assignments(step, 1000, NULL, step->arena, &list));
        for (int32_t i = 0; i < list.count; i++) {
            assert_true(is_consecutive(&list.devices[(int64_t)i * LAYERS]));
            best = fmin(best, slowest_stage(&times, &list.devices[(int64_t)i * LAYERS]));
        }
        if (fabs(best - try_everything(&times)) > 1e-9) {
            fail_msg("seed %d: %g is not %g", (int)seed, best, try_everything(&times));
        }
        yk_step_graph_destroy(step);
        yk_cluster_destroy(cluster);
    }
}

/* A device whose memory holds nothing beside the driver's is left out of every cut. */
static void a_device_with_no_room_is_left_out(void **state)
{
    (void)state;
    static const struct made_up_device devices[DEVICES] = {
        {"2GiB", 4, 4, 4, 4}, {"1MiB", 1, 1, 1, 1}, {"2GiB", 4, 4, 4, 4}};
    struct yk_cluster *cluster = made_up_cluster(devices, DEVICES, "1GB/s");
    struct yk_step_graph *step = make_step(cluster);
    struct yk_pipeline_stages_assignments list;
    assert_ok(yk_pipeline_stages_propose_assignments(step, 1000, NULL, step->arena, &list));
    assert_true(list.count > 0);
    for (int32_t i = 0; i < list.count * LAYERS; i++) {
        assert_int_not_equal(list.devices[i], 1);
    }
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

/* Of four equal devices, a and c have a fast link, b and d too; all others are slow. A pipeline of
 * two stages takes such a pair. */
static void neighbouring_stages_have_a_fast_link(void **state)
{
    (void)state;
    static const char text[] =
        "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[{\"name\":\"a\",\"type\":\"rtx3090\"},"
        "{\"name\":\"b\",\"type\":\"rtx3090\"},{\"name\":\"c\",\"type\":\"rtx3090\"},"
        "{\"name\":\"d\",\"type\":\"rtx3090\"}],\"links\":[{\"bandwidth\":\"1GB/s\"},"
        "{\"between\":[\"a\",\"c\"],\"bandwidth\":\"32GB/s\"},"
        "{\"between\":[\"b\",\"d\"],\"bandwidth\":\"32GB/s\"}]}";
    struct yk_cluster *cluster = NULL;
    struct yk_pipeline_stages_assignments list;
    int pairs = 0;
    assert_ok(yk_cluster_read_json(text, sizeof text - 1, "c.json", &cluster));
    struct yk_step_graph *step = make_step(cluster);
    assert_ok(yk_pipeline_stages_propose_assignments(step, 1000, NULL, step->arena, &list));
    for (int32_t i = 0; i < list.count; i++) {
        const int32_t *devices = &list.devices[(int64_t)i * LAYERS];
        bool others = false;
        for (int l = 0; l < LAYERS; l++) {
            others = others || (devices[l] != devices[0] && devices[l] != devices[LAYERS - 1]);
        }
        if (devices[0] != devices[LAYERS - 1] && !others) {
            assert_int_equal(abs(devices[0] - devices[LAYERS - 1]), 2);
            pairs++;
        }
    }
    assert_true(pairs > 0);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

/* GPT-2's head is with its embedding wherever that is, so it is no stage by itself: the two slow
 * devices get a layer each where all three are used, not one of them the empty end. */
static void a_proposal_that_uses_every_device_leaves_none_empty(void **state)
{
    (void)state;
    static const struct made_up_device devices[DEVICES] = {
        {"8GiB", 1, 1, 1, 1}, {"8GiB", 1000, 1000, 1000, 1000}, {"8GiB", 1100, 1100, 1100, 1100}};
    struct yk_cluster *cluster = made_up_cluster(devices, DEVICES, "1GB/s");
    struct yk_step_graph *step = make_step_of(cluster, "gpt2", MICRO_BATCHES);
    struct yk_pipeline_stages_assignments list;
    bool all = false;
    assert_ok(yk_pipeline_stages_propose_assignments(step, 1000, NULL, step->arena, &list));
    for (int32_t i = 0; i < list.count; i++) {
        bool used[DEVICES] = {false};
        for (int32_t l = 0; l < step->layer_count; l++) {
            used[list.devices[(int64_t)i * step->layer_count + l]] = true;
        }
        all = all || (used[0] && used[1] && used[2]);
    }
    assert_true(all);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

/* One micro-batch takes the sum of all stages, so the faster device gets all that it holds, five of
 * six layers; evenly busy stages would be three and three. */
static void for_one_micro_batch_the_sum_counts(void **state)
{
    (void)state;
    static const struct made_up_device devices[] = {{"2GiB", 1, 1, 1, 1},
                                                    {"2GiB", 1.2, 1.2, 1.2, 1.2}};
    struct yk_cluster *cluster = made_up_cluster(devices, 2, "1GB/s");
    struct yk_step_graph *step = make_step_of(cluster, "gpt-nano", 1);
    struct yk_pipeline_stages_assignments list;
    int64_t bytes = 0;
    int32_t most = 0;
    for (int32_t l = 0; l < LAYERS - 1; l++) {
        const struct yk_layer *layer = &step->model->layers[l];
        bytes += 16 * layer->parameters + layer->saved_bytes;
    }
    step->graph->devices[0].memory_bytes = bytes + step->model->layers[1].workspace_bytes + 1000;
    assert_ok(yk_pipeline_stages_propose_assignments(step, 1000, NULL, step->arena, &list));
    for (int32_t i = 0; i < list.count; i++) {
        int32_t count = 0;
        for (int32_t l = 0; l < LAYERS; l++) {
            count += list.devices[(int64_t)i * LAYERS + l] == 0 ? 1 : 0;
        }
        most = count > most ? count : most;
    }
    assert_int_equal(most, LAYERS - 1);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_proposals_hold_the_cut_with_the_fastest_slowest_stage),
        cmocka_unit_test(a_device_with_no_room_is_left_out),
        cmocka_unit_test(neighbouring_stages_have_a_fast_link),
        cmocka_unit_test(a_proposal_that_uses_every_device_leaves_none_empty),
        cmocka_unit_test(for_one_micro_batch_the_sum_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
