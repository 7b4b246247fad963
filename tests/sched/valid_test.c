/* Every schedule of every algorithm keeps every rule, over thousands of random graphs. */
#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"
#include "support/graphs/random_graph.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

#include <string.h>

/* Runs everything on one graph; returns how many algorithms found a schedule that fits. */
static int run_all(const struct yk_graph *graph, uint64_t seed, int64_t *lengths)
{
    const struct yk_scheduler_options options = {.moves = 200, .seed = seed};
    int64_t bound = 0;
    int found = 0;
    assert_ok(yk_makespan_bound_compute(graph, &bound));
    for (size_t i = 0; i < yk_scheduler_count; i++) {
        struct yk_schedule *schedule = NULL;
        const yk_status status = yk_scheduler_run(yk_schedulers[i], graph, &options, &schedule);
        lengths[i] = INT64_MAX;
        if (status == YK_ERROR_NO_FIT) {
            continue;
        }
        assert_int_equal(status, YK_OK);
        checker_assert_valid(schedule, yk_schedulers[i]->name);
        assert_true(bound <= schedule->makespan);
        assert_true(schedule->lower_bound <= schedule->makespan);
        lengths[i] = schedule->makespan;
        found++;
        yk_schedule_destroy(schedule);
    }
    return found;
}

static void assert_best_is_never_worse(const int64_t *lengths)
{
    int64_t best = INT64_MAX;
    int64_t best_of_others = INT64_MAX;
    for (size_t i = 0; i < yk_scheduler_count; i++) {
        if (strcmp(yk_schedulers[i]->name, "best") == 0) {
            best = lengths[i];
        } else if (strcmp(yk_schedulers[i]->name, "exact") != 0) {
            best_of_others = lengths[i] < best_of_others ? lengths[i] : best_of_others;
        }
    }
    assert_true(best <= best_of_others);
}

static void run_many(const struct random_graph_options *options, uint64_t first, int count,
                     bool all_must_fit)
{
    int fitting = 0;
    for (int i = 0; i < support_trials(count); i++) {
        int64_t lengths[64] = {0};
        assert_true(yk_scheduler_count <= sizeof lengths / sizeof lengths[0]);
        const uint64_t seed = first + (uint64_t)i;
        struct yk_graph *graph = random_graph(seed, options);
        const int found = run_all(graph, seed, lengths);
        if (all_must_fit) {
            assert_int_equal(found, (int)yk_scheduler_count);
        }
        if (found > 0) {
            assert_best_is_never_worse(lengths);
            fitting++;
        }
        yk_graph_destroy(graph);
    }
    /* A draw of which hardly any graph could be scheduled would show nothing. */
    assert_true(fitting > support_trials(count) / 3);
}

static void plain_graphs(void **state)
{
    (void)state;
    run_many(&(struct random_graph_options){.most_tasks = 20, .most_devices = 4}, 1000, 600, true);
}

static void graphs_with_decimals_zeros_and_links(void **state)
{
    (void)state;
    run_many(
        &(struct random_graph_options){
            .most_tasks = 20, .most_devices = 5, .decimals = true, .links = true},
        2000, 600, true);
}

static void graphs_with_groups(void **state)
{
    (void)state;
    run_many(
        &(struct random_graph_options){
            .most_tasks = 24, .most_devices = 4, .groups = true, .decimals = true},
        3000, 600, true);
}

static void graphs_with_devices_that_cannot_run_all(void **state)
{
    (void)state;
    run_many(
        &(struct random_graph_options){
            .most_tasks = 24, .most_devices = 4, .groups = true, .bars = true},
        4000, 600, false);
}

static void graphs_with_memory_limits(void **state)
{
    (void)state;
    run_many(&(struct random_graph_options){.most_tasks = 16,
                                            .most_devices = 4,
                                            .groups = true,
                                            .bytes = true,
                                            .limits = true,
                                            .links = true},
             5000, 600, false);
}

static void graphs_with_stores(void **state)
{
    (void)state;
    run_many(&(struct random_graph_options){.most_tasks = 20,
                                            .most_devices = 4,
                                            .groups = true,
                                            .stores = true,
                                            .bytes = true,
                                            .limits = true},
             8000, 600, false);
}

static void graphs_with_everything(void **state)
{
    (void)state;
    run_many(&(struct random_graph_options){.most_tasks = 40,
                                            .most_devices = 8,
                                            .groups = true,
                                            .stores = true,
                                            .bars = true,
                                            .bytes = true,
                                            .limits = true,
                                            .links = true,
                                            .decimals = true},
             6000, 200, false);
}

static void peaks_are_what_adding_up_from_scratch_gives(void **state)
{
    (void)state;
    const struct random_graph_options options = {
        .most_tasks = 20, .most_devices = 4, .groups = true, .stores = true, .bytes = true};
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct yk_graph *graph = random_graph(seed, &options);
        const struct yk_scheduler_options none = {0};
        struct yk_schedule *schedule = NULL;
        int64_t peaks[16];
        assert_ok(yk_scheduler_run(yk_scheduler_find("heft"), graph, &none, &schedule));
        assert_ok(yk_schedule_compute_memory_peaks(schedule, peaks));
        for (int32_t p = 0; p < graph->device_count; p++) {
            int64_t peak = 0;
            for (int32_t i = 0; i < graph->task_count; i++) {
                const int64_t at_start = checker_bytes_at(schedule, p, schedule->starts[i]);
                const int64_t at_finish = checker_bytes_at(schedule, p, schedule->finishes[i]);
                peak = at_start > peak ? at_start : peak;
                peak = at_finish > peak ? at_finish : peak;
            }
            assert_true(peaks[p] == peak);
        }
        yk_schedule_destroy(schedule);
        yk_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_graphs),
        cmocka_unit_test(graphs_with_decimals_zeros_and_links),
        cmocka_unit_test(graphs_with_groups),
        cmocka_unit_test(graphs_with_devices_that_cannot_run_all),
        cmocka_unit_test(graphs_with_memory_limits),
        cmocka_unit_test(graphs_with_stores),
        cmocka_unit_test(graphs_with_everything),
        cmocka_unit_test(peaks_are_what_adding_up_from_scratch_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
