/* Single: all tasks on one device, one after the other: the fastest device with sufficient memory.
 */
#include "sched/schedule.h"
#include "sched/scheduler.h"
#include "sched/task_rank.h"

/* The time all tasks take on `device`, or YK_GRAPH_INFINITE_COST when it cannot run all of them. */
static int64_t total_cost(const struct yk_graph *graph, int32_t device)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (!yk_graph_task_can_run_on(graph, i, device)) {
            return YK_GRAPH_INFINITE_COST;
        }
        sum += yk_graph_task_cost(graph, i, device);
    }
    return sum;
}

/* Fills the schedule with everything on `device`, in the order of schedule->order. */
static void place_all(struct yk_schedule *schedule, int32_t device)
{
    int64_t time = 0;
    for (int32_t k = 0; k < schedule->graph->task_count; k++) {
        const int32_t task = schedule->order[k];
        schedule->devices[task] = device;
        schedule->starts[task] = time;
        time += yk_graph_task_cost(schedule->graph, task, device);
        schedule->finishes[task] = time;
    }
    schedule->makespan = time;
}

static yk_status run(const struct yk_scheduler *scheduler,
                     const struct yk_scheduler_options *options, struct yk_schedule *schedule)
{
    (void)scheduler;
    (void)options;
    const struct yk_graph *graph = schedule->graph;
    int64_t *sums = NULL;
    YK_TRY_NEW(schedule->arena, sums, graph->device_count);
    for (int32_t p = 0; p < graph->device_count; p++) {
        sums[p] = total_cost(graph, p);
    }
    YK_TRY(yk_task_rank_order_depth_first(graph, schedule->arena, schedule->order));
    yk_status status = yk_fail(YK_ERROR_NO_FIT, "no single device can run every task");
    for (int32_t tries = 0; tries < graph->device_count; tries++) {
        int32_t fastest = 0;
        for (int32_t p = 1; p < graph->device_count; p++) {
            fastest = sums[p] < sums[fastest] ? p : fastest;
        }
        if (sums[fastest] == YK_GRAPH_INFINITE_COST) {
            return status;
        }
        place_all(schedule, fastest);
        status = yk_schedule_check_memory_limits(schedule);
        if (status != YK_ERROR_NO_FIT) {
            return status;
        }
        sums[fastest] = YK_GRAPH_INFINITE_COST;
    }
    return status;
}

const struct yk_scheduler yk_scheduler_single = {
    .name = "single",
    .summary = "everything on the one device that is fastest at it",
    .respects_memory = true,
    .run = run,
};
