#include "sched/timeline/schedule_builder.h"

#include "base/number.h"
#include <assert.h>

static yk_status allocate_arrays(struct yk_schedule_builder *builder)
{
    const struct yk_graph *graph = builder->graph;
    YK_TRY(yk_device_timeline_create(builder->arena, graph->task_count, graph->device_count,
                                     &builder->timeline));
    YK_TRY(yk_group_placement_create(builder->arena, graph, &builder->groups));
    YK_TRY_NEW(builder->arena, builder->ready, graph->device_count);
    return YK_OK;
}

yk_status yk_schedule_builder_create(struct yk_schedule *schedule, struct yk_schedule_builder **out)
{
    struct yk_schedule_builder *builder = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(builder);
    builder->graph = schedule->graph;
    builder->schedule = schedule;
    YK_TRY_OR_CLEAN_UP(allocate_arrays(builder), yk_arena_destroy(builder->arena));
    yk_schedule_builder_clear(builder);
    *out = builder;
    return YK_OK;
}

void yk_schedule_builder_destroy(struct yk_schedule_builder *builder)
{
    if (builder) {
        yk_arena_destroy(builder->arena);
    }
}

void yk_schedule_builder_clear(struct yk_schedule_builder *builder)
{
    yk_device_timeline_clear(builder->timeline);
    yk_number_fill_int32_array(builder->schedule->devices, builder->graph->task_count,
                               YK_SCHEDULE_NO_DEVICE);
    yk_group_placement_clear(&builder->groups);
    builder->placed_count = 0;
}

void yk_schedule_builder_raise_ready_times(const struct yk_graph *graph,
                                           const struct yk_graph_incoming_edge *input,
                                           int32_t source, int64_t finish, int64_t *ready)
{
    const int32_t P = graph->device_count;
    const int64_t at_source = yk_number_max(ready[source], finish);
    if (input->cost != YK_GRAPH_COST_FROM_LINK) {
        const int64_t elsewhere = finish + input->cost;
        for (int32_t p = 0; p < P; p++) {
            ready[p] = yk_number_max(ready[p], elsewhere);
        }
    } else {
        const struct yk_graph_edge *edge = &graph->edges[input->edge];
        for (int32_t p = 0; p < P; p++) {
            ready[p] =
                yk_number_max(ready[p], finish + yk_graph_edge_delay_ticks(graph, edge, source, p));
        }
    }
    ready[source] = at_source;
}

const int64_t *yk_schedule_builder_compute_ready_times(struct yk_schedule_builder *builder,
                                                       int32_t task)
{
    const struct yk_graph *graph = builder->graph;
    const int32_t P = graph->device_count;
    int64_t *ready = builder->ready;
    for (int32_t p = 0; p < P; p++) {
        ready[p] = 0;
    }
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_incoming_edge *edge = &graph->inputs[k];
        const int32_t source = builder->schedule->devices[edge->from];
        if (source != YK_SCHEDULE_NO_DEVICE) {
            yk_schedule_builder_raise_ready_times(graph, edge, source,
                                                  builder->schedule->finishes[edge->from], ready);
        }
    }
    return ready;
}

struct yk_schedule_slot
yk_schedule_builder_find_slot_on_device(const struct yk_schedule_builder *builder, int32_t task,
                                        int32_t device, int64_t ready)
{
    const int64_t cost = yk_graph_task_cost(builder->graph, task, device);
    const int64_t start = yk_device_timeline_find_gap(builder->timeline, device, ready, cost);
    return (struct yk_schedule_slot){device, start, start + cost};
}

/* The device on which the task would end first if every device were idle. */
static int32_t most_promising(const struct yk_schedule_builder *builder, int32_t task,
                              const int64_t *ready)
{
    int32_t best = YK_SCHEDULE_NO_DEVICE;
    int64_t min = INT64_MAX;
    for (int32_t p = 0; p < builder->graph->device_count; p++) {
        if (yk_schedule_builder_allows_device(builder, task, p) &&
            ready[p] + yk_graph_task_cost(builder->graph, task, p) < min) {
            best = p;
            min = ready[p] + yk_graph_task_cost(builder->graph, task, p);
        }
    }
    return best;
}

struct yk_schedule_slot yk_schedule_builder_find_earliest_slot(struct yk_schedule_builder *builder,
                                                               int32_t task)
{
    return yk_schedule_builder_find_slot_from_ready(
        builder, task, yk_schedule_builder_compute_ready_times(builder, task));
}

struct yk_schedule_slot
yk_schedule_builder_find_slot_from_ready(const struct yk_schedule_builder *builder, int32_t task,
                                         const int64_t *ready)
{
    const int32_t first = most_promising(builder, task, ready);
    struct yk_schedule_slot best =
        yk_schedule_builder_find_slot_on_device(builder, task, first, ready[first]);
    for (int32_t p = 0; p < builder->graph->device_count; p++) {
        if (p == first || !yk_schedule_builder_allows_device(builder, task, p)) {
            continue;
        }
        /* A device that could not win even if it were idle is not searched for a gap. */
        const int64_t to_beat = p < best.device ? best.finish + 1 : best.finish;
        if (ready[p] + yk_graph_task_cost(builder->graph, task, p) >= to_beat) {
            continue;
        }
        const struct yk_schedule_slot slot =
            yk_schedule_builder_find_slot_on_device(builder, task, p, ready[p]);
        if (slot.finish < to_beat) {
            best = slot;
        }
    }
    return best;
}

void yk_schedule_builder_place(struct yk_schedule_builder *builder, int32_t task,
                               struct yk_schedule_slot slot)
{
    struct yk_schedule *schedule = builder->schedule;
    assert(schedule->devices[task] == YK_SCHEDULE_NO_DEVICE);
    schedule->devices[task] = slot.device;
    schedule->starts[task] = slot.start;
    schedule->finishes[task] = slot.finish;
    schedule->order[builder->placed_count++] = task;
    yk_device_timeline_add_task(builder->timeline, slot.device, task, slot.start, slot.finish);
    yk_group_placement_add_task(&builder->groups, task, slot.device);
}

void yk_schedule_builder_undo_last_place(struct yk_schedule_builder *builder)
{
    assert(builder->placed_count > 0);
    const int32_t task = builder->schedule->order[--builder->placed_count];
    const int32_t device = builder->schedule->devices[task];
    yk_device_timeline_remove_task(builder->timeline, device, task);
    builder->schedule->devices[task] = YK_SCHEDULE_NO_DEVICE;
    yk_group_placement_remove_task(&builder->groups, task, device);
}

void yk_schedule_builder_compute_makespan(struct yk_schedule_builder *builder)
{
    assert(builder->placed_count == builder->graph->task_count);
    struct yk_schedule *schedule = builder->schedule;
    schedule->makespan = 0;
    for (int32_t i = 0; i < builder->graph->task_count; i++) {
        schedule->makespan = yk_number_max(schedule->makespan, schedule->finishes[i]);
    }
}
