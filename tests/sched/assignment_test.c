#include "base/random.h"
#include "sched/assignment.h"
#include "sched/scheduler.h"
#include "support/graphs/random_graph.h"
#include "support/graphs/schedule_checker.h"
#include "support/support.h"

#define PIPELINE                                                                                   \
    "{\"yoke\":1,\"kind\":\"graph\",\"devices\":[\"P1\",\"P2\"],\"tasks\":["                       \
    "{\"name\":\"a1\",\"cost\":2},{\"name\":\"a2\",\"cost\":2},"                                   \
    "{\"name\":\"b1\",\"cost\":3},{\"name\":\"b2\",\"cost\":3}],"                                  \
    "\"edges\":[{\"from\":\"a1\",\"to\":\"b1\",\"cost\":1},"                                       \
    "{\"from\":\"a2\",\"to\":\"b2\",\"cost\":1}]}"

static struct yk_schedule *run(const struct yk_graph *graph, const struct yk_assignment *assignment)
{
    struct yk_schedule *schedule = NULL;
    assert_ok(yk_schedule_create(graph, &schedule));
    assert_ok(yk_assignment_make_schedule(assignment, schedule));
    return schedule;
}

/* Two samples through two stages: a1 0–2, a2 2–4; b1 from 3 (2, and 1 on the way), b2 6–9. */
static void a_mapped_pipeline_overlaps_its_stages(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(PIPELINE, NULL);
    const int32_t devices[] = {0, 0, 1, 1};
    struct yk_schedule *schedule = run(graph, &(struct yk_assignment){.devices = devices});
    checker_assert_valid(schedule, "mapped");
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[2]) == 3);
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[3]) == 6);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 9);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

/* With the second sample gated by the end of the first: a2 6–8, b2 9–12. */
static void a_gate_holds_a_task_back_until_another_has_finished(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(PIPELINE, NULL);
    const int32_t devices[] = {0, 0, 1, 1};
    const int32_t gates[] = {YK_ASSIGNMENT_NO_PREDECESSOR, 2, YK_ASSIGNMENT_NO_PREDECESSOR,
                             YK_ASSIGNMENT_NO_PREDECESSOR};
    struct yk_schedule *schedule =
        run(graph, &(struct yk_assignment){.devices = devices, .predecessors = gates});
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[1]) == 6);
    assert_true(yk_graph_ticks_to_time(graph, schedule->makespan) == 12);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

static void an_idle_device_runs_the_task_with_the_highest_priority(void **state)
{
    (void)state;
    struct yk_graph *graph = support_read_graph(PIPELINE, NULL);
    const int32_t devices[] = {0, 0, 1, 1};
    const int64_t priorities[] = {1, 2, 1, 1};
    struct yk_schedule *schedule =
        run(graph, &(struct yk_assignment){.devices = devices, .priorities = priorities});
    assert_true(schedule->starts[1] == 0);
    assert_true(yk_graph_ticks_to_time(graph, schedule->starts[0]) == 2);
    yk_schedule_destroy(schedule);
    yk_graph_destroy(graph);
}

/* Whatever the devices, the result keeps every rule but memory, and nothing could start earlier
 * with the same order on each device: it is as short as replaying the order shows. */
static void random_maps_give_valid_schedules_with_no_needless_waits(void **state)
{
    (void)state;
    const struct random_graph_options options = {
        .most_tasks = 30, .most_devices = 4, .links = true, .decimals = true};
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct yk_graph *graph = random_graph(seed, &options);
        struct yk_random random = yk_random_from_seed(seed);
        int32_t devices[30];
        for (int32_t i = 0; i < graph->task_count; i++) {
            devices[i] = (int32_t)yk_random_below(&random, graph->device_count);
        }
        struct yk_schedule *schedule = run(graph, &(struct yk_assignment){.devices = devices});
        checker_assert_valid(schedule, "mapped");
        int64_t idle_from[16] = {0};
        for (int32_t k = 0; k < graph->task_count; k++) {
            const int32_t task = schedule->order[k];
            int64_t start = idle_from[devices[task]];
            for (int32_t e = 0; e < graph->edge_count; e++) {
                const struct yk_graph_edge *edge = &graph->edges[e];
                if (edge->to == task) {
                    const int64_t arrival =
                        schedule->finishes[edge->from] +
                        yk_graph_edge_delay_ticks(graph, edge, devices[edge->from], devices[task]);
                    start = arrival > start ? arrival : start;
                }
            }
            assert_true(schedule->starts[task] == start);
            assert_int_equal(schedule->devices[task], devices[task]);
            idle_from[devices[task]] = schedule->finishes[task];
        }
        yk_schedule_destroy(schedule);
        yk_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapped_pipeline_overlaps_its_stages),
        cmocka_unit_test(a_gate_holds_a_task_back_until_another_has_finished),
        cmocka_unit_test(an_idle_device_runs_the_task_with_the_highest_priority),
        cmocka_unit_test(random_maps_give_valid_schedules_with_no_needless_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
