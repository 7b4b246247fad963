#include "sched/schedule.h"

static void wait_for_inputs(const struct yk_schedule *schedule, int32_t task,
                            struct yk_task_wait *wait)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const int32_t e = graph->inputs[k].edge;
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int64_t arrival =
            schedule->finishes[edge->from] +
            yk_graph_edge_delay_ticks(graph, edge, schedule->devices[edge->from],
                                      schedule->devices[task]);
        if (arrival > wait->arrival) {
            *wait = (struct yk_task_wait){YK_TASK_WAIT_DATA, edge->from, e, arrival};
        }
    }
}

/* True if the finish of `other` frees memory of `device`: it ran there, or used data of it. */
static bool frees_memory(const struct yk_schedule *schedule, int32_t other, int32_t device)
{
    const struct yk_graph *graph = schedule->graph;
    bool frees = schedule->devices[other] == device && graph->tasks[other].memory_bytes > 0;
    for (int32_t k = graph->in_first[other]; !frees && k < graph->in_first[other + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        frees = edge->resident_bytes > 0 &&
                (schedule->devices[edge->from] == device || schedule->devices[other] == device);
    }
    return frees;
}

/* The task whose finish freed the memory that `task` needed to start, or -1. */
static int32_t find_memory_holder(const struct yk_schedule *schedule, int32_t task)
{
    const int32_t device = schedule->devices[task];
    if (schedule->graph->devices[device].memory_bytes == YK_GRAPH_UNLIMITED_MEMORY) {
        return -1;
    }
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        if (schedule->finishes[i] == schedule->starts[task] && i != task &&
            frees_memory(schedule, i, device)) {
            return i;
        }
    }
    return -1;
}

yk_status yk_task_wait_find_reasons(struct yk_schedule *schedule, struct yk_task_wait *out)
{
    struct yk_schedule_device_tasks lanes;
    YK_TRY(yk_schedule_list_device_tasks(schedule, &lanes));
    for (int32_t p = 0; p < schedule->graph->device_count; p++) {
        int32_t previous = -1;
        for (int32_t k = lanes.first[p]; k < lanes.first[p + 1]; k++) {
            const int32_t task = lanes.tasks[k];
            struct yk_task_wait wait = {YK_TASK_WAIT_NONE, -1, -1, 0};
            wait_for_inputs(schedule, task, &wait);
            if (previous >= 0 && schedule->finishes[previous] > wait.arrival) {
                wait = (struct yk_task_wait){YK_TASK_WAIT_DEVICE, previous, -1,
                                             schedule->finishes[previous]};
            }
            if (wait.arrival < schedule->starts[task]) {
                const int32_t holder = find_memory_holder(schedule, task);
                const enum yk_task_wait_reason reason =
                    holder < 0 ? YK_TASK_WAIT_SCHEDULER : YK_TASK_WAIT_MEMORY;
                wait = (struct yk_task_wait){reason, holder, -1, wait.arrival};
            }
            out[task] = wait;
            previous = task;
        }
    }
    return YK_OK;
}
