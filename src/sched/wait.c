#include "sched/wait.h"

static void wait_for_inputs(const struct yk_schedule *schedule, int32_t task, struct yk_wait *wait)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const int32_t e = graph->in_edges[k];
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int64_t arrival =
            schedule->finishes[edge->from] +
            yk_graph_delay(graph, edge, schedule->devices[edge->from], schedule->devices[task]);
        if (arrival > wait->arrival) {
            *wait = (struct yk_wait){YK_WAIT_DATA, edge->from, e, arrival};
        }
    }
}

yk_status yk_wait_explain(struct yk_schedule *schedule, struct yk_wait *out)
{
    struct yk_schedule_lanes lanes;
    YK_TRY(yk_schedule_list_lanes(schedule, &lanes));
    for (int32_t p = 0; p < schedule->graph->device_count; p++) {
        int32_t previous = -1;
        for (int32_t k = lanes.first[p]; k < lanes.first[p + 1]; k++) {
            const int32_t task = lanes.tasks[k];
            struct yk_wait wait = {YK_WAIT_NOTHING, -1, -1, 0};
            wait_for_inputs(schedule, task, &wait);
            if (previous >= 0 && schedule->finishes[previous] > wait.arrival) {
                wait = (struct yk_wait){YK_WAIT_DEVICE, previous, -1, schedule->finishes[previous]};
            }
            if (wait.arrival < schedule->starts[task]) {
                wait = (struct yk_wait){YK_WAIT_MEMORY, -1, -1, wait.arrival};
            }
            out[task] = wait;
            previous = task;
        }
    }
    return YK_OK;
}
