#include "planner/placement/evaluate.h"
#include "planner/placement/step_graph.h"
#include "sched/schedule.h"
#include "support/clusters/stated_times.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* gpt-nano: embed, three blocks, norm and head, none of them tied; a sample of 128 tokens sends
 * 128 · 48 · 2 = 12,288 bytes from layer to layer. */
enum {
    LAYERS = 6,
    SENT = 12288
};

static const struct made_up_device even = {"2GiB", 1, 1, 1, 1};

struct bench {
    struct yk_cluster *cluster;
    struct yk_cost_sources sources;
    struct yk_step_graph *step;
};

static struct bench set_up(const struct made_up_device *devices, int count, const char *bandwidth,
                           const char *model, int64_t batch, int32_t micro_batches)
{
    static struct yk_cost_sources sources; /* the step points to it */
    struct bench bench = {.cluster = made_up_cluster(devices, count, bandwidth)};
    sources = (struct yk_cost_sources){.cluster = bench.cluster};
    struct yk_step_graph_spec spec = {
        .cost_sources = &sources,
        .workload = {.batch = batch, .sequence = 128, .precision = YK_PRECISION_BF16},
        .micro_batches = micro_batches,
    };
    assert_ok(yk_model_config_find_builtin(model, &spec.config));
    assert_ok(yk_step_graph_create(&spec, &bench.step));
    return bench;
}

static void tear_down(struct bench *bench)
{
    yk_step_graph_destroy(bench->step);
    yk_cluster_destroy(bench->cluster);
}

/* The step's seconds when the layers of every micro-batch are on these devices. */
static double seconds(const struct bench *bench, const int32_t *layer_devices)
{
    const struct yk_step_graph *step = bench->step;
    struct yk_schedule *schedule = NULL;
    struct yk_placement_memory_fit fit;
    int32_t devices[64];
    for (int32_t i = 0; i < step->micro_batch_count * step->layer_count; i++) {
        devices[i] = layer_devices[i % step->layer_count];
    }
    assert_ok(yk_schedule_create(step->graph, &schedule));
    assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
    const double result = yk_graph_ticks_to_time(step->graph, schedule->makespan);
    yk_schedule_destroy(schedule);
    return result;
}

static void assert_close(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * expected) {
        fail_msg("%.12g is not %.12g", value, expected);
    }
}

static void a_step_is_forward_backward_and_update_of_every_layer(void **state)
{
    (void)state;
    struct bench bench = set_up(&even, 1, "1GB/s", "gpt-nano", 1, 1);
    const struct yk_graph *graph = bench.step->graph;
    assert_int_equal(bench.step->layer_count, LAYERS);
    assert_int_equal(graph->task_count, 3 * LAYERS);
    /* Two chains of 5, what is saved by 6 layers, 6 updates that wait for their backward. */
    assert_int_equal(graph->edge_count, 2 * (LAYERS - 1) + LAYERS + LAYERS);
    assert_int_equal(graph->group_count, LAYERS);
    assert_string_equal(graph->tasks[bench.step->backward[1]].name, "layer 0 backward");
    tear_down(&bench);
}

/* Six layers of 1 s forward and 2 s backward, 4 samples each: 72 s. */
static void on_one_device_a_step_is_the_sum_of_its_layers(void **state)
{
    (void)state;
    static const int32_t one[LAYERS] = {0};
    struct bench bench = set_up(&even, 1, "1GB/s", "gpt-nano", 4, 1);
    assert_close(seconds(&bench, one), 72);
    tear_down(&bench);
    bench = set_up(&even, 1, "1GB/s", "gpt-nano", 4, 3); /* 2 + 1 + 1 samples */
    assert_close(seconds(&bench, one), 72);
    tear_down(&bench);
}

/* The activation goes over and its gradient comes back: a second each. */
static void a_cut_costs_its_two_transfers(void **state)
{
    (void)state;
    static const int32_t cut[LAYERS] = {0, 0, 1, 1, 1, 1};
    static const struct made_up_device two[] = {{"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}};
    struct bench bench = set_up(two, 2, "12.288kB/s", "gpt-nano", 1, 1);
    assert_close(seconds(&bench, cut), 18 + 2);
    tear_down(&bench);
}

/*
 * Two stages of 3 s forward and 6 s backward, two micro-batches, free links, in units of 3 s:
 * forwards 0–1 and 1–2 on the first device, 1–2 on the second; its two backwards end at 7 at the
 * earliest, and the first device's last one 2 later.
 */
static void two_micro_batches_overlap_in_two_stages(void **state)
{
    (void)state;
    static const int32_t halves[LAYERS] = {0, 0, 0, 1, 1, 1};
    static const struct made_up_device two[] = {{"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}};
    struct bench bench = set_up(two, 2, "1000TB/s", "gpt-nano", 2, 2);
    assert_close(seconds(&bench, halves), 27);
    tear_down(&bench);
}

static void layers_that_share_weights_go_together(void **state)
{
    (void)state;
    static const struct made_up_device two[] = {{"8GiB", 1, 1, 1, 1}, {"8GiB", 1, 1, 1, 1}};
    struct bench bench = set_up(two, 2, "1GB/s", "gpt2", 1, 1);
    const struct yk_step_graph *step = bench.step;
    const int32_t head = step->layer_count - 1;
    int32_t layer_devices[64];
    int32_t task_devices[256];
    assert_int_equal(yk_model_weight_owner(step->model, head), 0);
    assert_int_equal(step->graph->tasks[step->forward[head]].group,
                     step->graph->tasks[step->forward[0]].group);
    for (int32_t l = 0; l <= head; l++) {
        layer_devices[l] = l > 0 ? 1 : 0;
    }
    yk_step_graph_fill_task_devices(step, layer_devices, task_devices);
    assert_int_equal(task_devices[step->forward[head]], 0);
    assert_int_equal(task_devices[step->backward[head]], 0);
    assert_int_equal(task_devices[step->forward[head - 1]], 1);
    tear_down(&bench);
}

/* Each of two devices takes one of two samples through the whole model: both hold all weights, the
 * step is half as long, and then gradients and new weights travel. */
static void a_layer_may_serve_its_micro_batches_on_several_devices(void **state)
{
    (void)state;
    static const struct made_up_device two[] = {{"2GiB", 1, 1, 1, 1}, {"2GiB", 1, 1, 1, 1}};
    struct bench bench = set_up(two, 2, "1000TB/s", "gpt-nano", 2, 2);
    const struct yk_step_graph *step = bench.step;
    struct yk_schedule *schedule = NULL;
    struct yk_placement_memory_fit fit;
    int32_t devices[2 * LAYERS];
    int64_t weights = 0;
    int64_t peaks[2];
    for (int i = 0; i < 2 * LAYERS; i++) {
        devices[i] = i / LAYERS;
    }
    for (int32_t l = 0; l < LAYERS; l++) {
        weights += 16 * step->model->layers[l].parameters; /* 16-bit training with Adam */
    }
    assert_ok(yk_schedule_create(step->graph, &schedule));
    assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
    assert_true(fit.fits);
    const double step_s = yk_graph_ticks_to_time(step->graph, schedule->makespan);
    assert_true(step_s >= 18 && step_s < 18.001);
    assert_int_equal(step->graph->store_count, LAYERS);
    assert_ok(yk_schedule_compute_memory_peaks(schedule, peaks));
    assert_true(peaks[0] > weights && peaks[1] > weights);
    yk_schedule_destroy(schedule);
    tear_down(&bench);
}

/* With one micro-batch under way at a time, one lot of activations is held, and no more. */
static void fewer_micro_batches_under_way_make_room(void **state)
{
    (void)state;
    static const int32_t one[LAYERS] = {0};
    struct bench bench = set_up(&even, 1, "1GB/s", "gpt-nano", 8, 8);
    const struct yk_step_graph *step = bench.step;
    struct yk_schedule *schedule = NULL;
    struct yk_placement_memory_fit fit;
    int32_t devices[8 * LAYERS] = {0};
    int64_t saved = 0;
    int64_t most = 0;
    for (int32_t l = 0; l < LAYERS; l++) {
        saved += step->model->layers[l].saved_bytes;
        most += 16 * step->model->layers[l].parameters;
    }
    /* Room for the weights and two lots of what is saved, workspace and data on the way. */
    step->graph->devices[0].memory_bytes = most + 3 * saved;
    assert_ok(yk_schedule_create(step->graph, &schedule));
    assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
    assert_true(fit.fits);
    assert_close(yk_graph_ticks_to_time(step->graph, schedule->makespan), 8 * 18);
    step->graph->devices[0].memory_bytes = most + saved / 2;
    assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
    assert_false(fit.fits);
    assert_int_equal(fit.device, 0);
    assert_true(fit.missing_bytes >= saved / 2);
    assert_close(seconds(&bench, one), 8 * 18);
    yk_schedule_destroy(schedule);
    tear_down(&bench);
}

/* Two stages: the first could run all its forwards while it waits, and would hold all that they
 * save. With room for three it runs fewer at a time, and the step takes longer. */
static void a_stage_with_no_room_runs_fewer_micro_batches_ahead(void **state)
{
    (void)state;
    static const struct made_up_device two[] = {{"2GiB", 1, 1, 1, 1}, {"2GiB", 2, 2, 2, 2}};
    static const int32_t halves[LAYERS] = {0, 0, 0, 1, 1, 1};
    struct bench bench = set_up(two, 2, "1000TB/s", "gpt-nano", 8, 8);
    const struct yk_step_graph *step = bench.step;
    struct yk_schedule *schedule = NULL;
    struct yk_placement_memory_fit fit;
    int32_t devices[8 * LAYERS];
    int64_t saved = 0;
    int64_t weights = 0;
    for (int i = 0; i < 8 * LAYERS; i++) {
        devices[i] = halves[i % LAYERS];
    }
    for (int32_t l = 0; l < 3; l++) {
        saved += step->model->layers[l].saved_bytes;
        weights += 16 * step->model->layers[l].parameters;
    }
    const double unlimited_s = seconds(&bench, halves);
    step->graph->devices[0].memory_bytes = weights + 7 * saved / 2;
    assert_ok(yk_schedule_create(step->graph, &schedule));
    assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
    assert_true(fit.fits);
    assert_true(yk_graph_ticks_to_time(step->graph, schedule->makespan) >= unlimited_s);
    yk_schedule_destroy(schedule);
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_forward_backward_and_update_of_every_layer),
        cmocka_unit_test(on_one_device_a_step_is_the_sum_of_its_layers),
        cmocka_unit_test(a_cut_costs_its_two_transfers),
        cmocka_unit_test(two_micro_batches_overlap_in_two_stages),
        cmocka_unit_test(layers_that_share_weights_go_together),
        cmocka_unit_test(a_layer_may_serve_its_micro_batches_on_several_devices),
        cmocka_unit_test(fewer_micro_batches_under_way_make_room),
        cmocka_unit_test(a_stage_with_no_room_runs_fewer_micro_batches_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
