#include "planner/placement/evaluate.h"
#include "support/clusters/stated_times.h"
#include "support/support.h"

#include <math.h>

/* gpt-nano: six layers; a sample of 128 tokens sends 128 · 48 · 2 = 12,288 bytes between two. */
enum {
    LAYERS = 6,
    MICRO_BATCHES = 2
};

static struct yk_cost_sources sources;

static struct yk_step_graph *make_step(const struct yk_cluster *cluster, int64_t lora_rank)
{
    struct yk_step_graph *step = NULL;
    sources = (struct yk_cost_sources){.cluster = cluster};
    struct yk_step_graph_spec spec = {
        .cost_sources = &sources,
        .workload = {.batch = MICRO_BATCHES,
                     .sequence = 128,
                     .precision = YK_PRECISION_BF16,
                     .lora_rank = lora_rank},
        .micro_batches = MICRO_BATCHES,
    };
    assert_ok(yk_model_config_find_builtin("gpt-nano", &spec.config));
    assert_ok(yk_step_graph_create(&spec, &step));
    return step;
}

static void assert_busiest(const struct yk_step_graph *step, const int32_t *devices,
                           double expected_s)
{
    struct yk_schedule *schedule = NULL;
    struct yk_placement_memory_fit fit;
    assert_ok(yk_schedule_create(step->graph, &schedule));
    assert_ok(yk_placement_evaluate_device_map(step, devices, schedule, &fit));
    const double busiest_s = yk_placement_evaluate_busiest_port_s(step, schedule);
    const double step_s = yk_placement_evaluate_step_s(step, schedule);
    if (fabs(busiest_s - expected_s) > 1e-9 * expected_s) {
        fail_msg("%.12g is not %.12g", busiest_s, expected_s);
    }
    const double makespan_s = yk_graph_ticks_to_time(step->graph, schedule->makespan);
    assert_true(step_s == fmax(busiest_s, makespan_s));
    yk_schedule_destroy(schedule);
}

static const struct made_up_device two[] = {{"2GiB", 1e-3, 1e-3, 1e-3, 1e-3},
                                            {"2GiB", 1e-3, 1e-3, 1e-3, 1e-3}};

/* One cut: two micro-batches' activations out of the first device, their gradients into it. */
static void a_cut_sends_activations_one_way_and_gradients_the_other(void **state)
{
    (void)state;
    static const int32_t devices[MICRO_BATCHES * LAYERS] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1};
    struct yk_cluster *cluster = made_up_cluster(two, 2, "1MB/s");
    struct yk_step_graph *step = make_step(cluster, 0);
    assert_busiest(step, devices, 2 * 12288 / 1e6);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

/* A copy of the model each: every trained weight's gradient, two bytes, goes to the updater once,
 * and its new value comes back. */
static void copies_of_the_model_exchange_every_gradient_once(void **state)
{
    (void)state;
    static const int32_t devices[MICRO_BATCHES * LAYERS] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    struct yk_cluster *cluster = made_up_cluster(two, 2, "1MB/s");
    struct yk_step_graph *step = make_step(cluster, 0);
    assert_busiest(step, devices, 2 * 97296.0 / 1e6);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

/* A frozen embedding on two devices sends to the third, and no gradient comes back: each of the two
 * sends one micro-batch, the third receives both. */
static void what_comes_in_from_several_sides_adds_up(void **state)
{
    (void)state;
    static const struct made_up_device three[] = {{"2GiB", 1e-3, 1e-3, 1e-3, 1e-3},
                                                  {"2GiB", 1e-3, 1e-3, 1e-3, 1e-3},
                                                  {"2GiB", 1e-3, 1e-3, 1e-3, 1e-3}};
    static const int32_t devices[MICRO_BATCHES * LAYERS] = {0, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2};
    struct yk_cluster *cluster = made_up_cluster(three, 3, "1MB/s");
    struct yk_step_graph *step = make_step(cluster, 4);
    assert_busiest(step, devices, 2 * 12288 / 1e6);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

static void one_device_has_no_traffic(void **state)
{
    (void)state;
    static const int32_t devices[MICRO_BATCHES * LAYERS] = {0};
    struct yk_cluster *cluster = made_up_cluster(two, 2, "1MB/s");
    struct yk_step_graph *step = make_step(cluster, 0);
    assert_busiest(step, devices, 0);
    yk_step_graph_destroy(step);
    yk_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_sends_activations_one_way_and_gradients_the_other),
        cmocka_unit_test(copies_of_the_model_exchange_every_gradient_once),
        cmocka_unit_test(what_comes_in_from_several_sides_adds_up),
        cmocka_unit_test(one_device_has_no_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
