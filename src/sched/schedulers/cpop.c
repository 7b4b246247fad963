/*
 * CPOP, critical path on a processor (Topcuoglu, Hariri, Wu, 2002): the priority of a task is its
 * upward plus downward rank. The tasks of one critical path go to the device with the smallest
 * total cost for them. The other tasks go to the device with the earliest finish.
 */
#include "sched/scheduler.h"
#include "sched/schedulers/list_scheduler.h"
#include "sched/task_rank.h"

struct path {
    bool *contains; /* (n) */
    int32_t device; /* YK_SCHEDULE_NO_DEVICE when no device can run all of it */
};

/* From `task` along the edge that gives it its upward rank; -1 at the end of the path. */
static int32_t next_on_path(const struct yk_graph *graph, const int64_t *upward, int32_t task)
{
    const int64_t rest = upward[task] - yk_task_rank_scaled_mean_cost(graph, task);
    int32_t next = -1;
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        if (yk_task_rank_scaled_mean_transfer(graph, edge) + upward[edge->to] == rest &&
            (next < 0 || edge->to < next)) {
            next = edge->to;
        }
    }
    return next;
}

static void find_path(const struct yk_graph *graph, const int64_t *upward, struct path *path,
                      int64_t *sums)
{
    int32_t task = 0;
    for (int32_t i = 1; i < graph->task_count; i++) {
        task = upward[i] > upward[task] ? i : task;
    }
    for (int32_t step = task; step >= 0; step = next_on_path(graph, upward, step)) {
        path->contains[step] = true;
        for (int32_t p = 0; p < graph->device_count; p++) {
            const int64_t cost = yk_graph_task_cost(graph, step, p);
            const bool never = cost == YK_GRAPH_INFINITE_COST || sums[p] == YK_GRAPH_INFINITE_COST;
            sums[p] = never ? YK_GRAPH_INFINITE_COST : sums[p] + cost;
        }
    }
    path->device = YK_SCHEDULE_NO_DEVICE;
    for (int32_t p = 0; p < graph->device_count; p++) {
        if (sums[p] != YK_GRAPH_INFINITE_COST &&
            (path->device == YK_SCHEDULE_NO_DEVICE || sums[p] < sums[path->device])) {
            path->device = p;
        }
    }
}

static yk_status prepare(struct yk_schedule_builder *builder, int64_t *priorities, void **state)
{
    const struct yk_graph *graph = builder->graph;
    int64_t *upward = NULL;
    int64_t *sums = NULL;
    struct path *path = NULL;
    YK_TRY_NEW(builder->arena, upward, graph->task_count);
    YK_TRY_NEW(builder->arena, sums, graph->device_count);
    YK_TRY_NEW(builder->arena, path, 1);
    YK_TRY_NEW(builder->arena, path->contains, graph->task_count);
    yk_task_rank_compute_upward(graph, false, upward);
    yk_task_rank_compute_downward(graph, priorities);
    for (int32_t i = 0; i < graph->task_count; i++) {
        priorities[i] += upward[i];
    }
    find_path(graph, upward, path, sums);
    *state = path;
    return YK_OK;
}

static struct yk_schedule_slot choose(struct yk_schedule_builder *builder, void *state,
                                      int32_t task)
{
    const struct path *path = state;
    if (path->contains[task] && path->device != YK_SCHEDULE_NO_DEVICE &&
        yk_schedule_builder_allows_device(builder, task, path->device)) {
        const int64_t *ready = yk_schedule_builder_compute_ready_times(builder, task);
        return yk_schedule_builder_find_slot_on_device(builder, task, path->device,
                                                       ready[path->device]);
    }
    return yk_schedule_builder_find_earliest_slot(builder, task);
}

static const struct yk_list_scheduler_rule rule = {.prepare = prepare, .choose = choose};

const struct yk_scheduler yk_scheduler_cpop = {
    .name = "cpop",
    .summary = "the critical path on one device, the rest where it ends first",
    .run = yk_list_scheduler_run,
    .rule = &rule,
};
