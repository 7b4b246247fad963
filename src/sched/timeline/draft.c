#include "sched/timeline/draft.h"

#include "base/number.h"
#include <assert.h>

static yk_status allocate_arrays(struct yk_draft *draft)
{
    const struct yk_graph *graph = draft->graph;
    YK_TRY(
        yk_timeline_create(draft->arena, graph->task_count, graph->device_count, &draft->timeline));
    YK_TRY(yk_group_devices_create(draft->arena, graph, &draft->groups));
    YK_TRY_NEW(draft->arena, draft->ready, graph->device_count);
    return YK_OK;
}

yk_status yk_draft_create(struct yk_schedule *schedule, struct yk_draft **out)
{
    struct yk_draft *draft = NULL;
    YK_TRY_NEW_OWNER(draft);
    draft->graph = schedule->graph;
    draft->schedule = schedule;
    const yk_status status = allocate_arrays(draft);
    if (status != YK_OK) {
        yk_arena_destroy(draft->arena);
        return status;
    }
    yk_draft_clear(draft);
    *out = draft;
    return YK_OK;
}

void yk_draft_destroy(struct yk_draft *draft)
{
    if (draft) {
        yk_arena_destroy(draft->arena);
    }
}

void yk_draft_clear(struct yk_draft *draft)
{
    yk_timeline_clear(draft->timeline);
    yk_number_fill(draft->schedule->devices, draft->graph->task_count, YK_DRAFT_NO_DEVICE);
    yk_group_devices_clear(&draft->groups);
    draft->placed_count = 0;
}

void yk_draft_add_input(const struct yk_graph *graph, const struct yk_graph_input *input,
                        int32_t source, int64_t finish, int64_t *ready)
{
    const int32_t P = graph->device_count;
    const int64_t at_source = yk_number_max(ready[source], finish);
    if (input->cost != YK_GRAPH_BY_LINK) {
        const int64_t elsewhere = finish + input->cost;
        for (int32_t p = 0; p < P; p++) {
            ready[p] = yk_number_max(ready[p], elsewhere);
        }
    } else {
        const struct yk_graph_edge *edge = &graph->edges[input->edge];
        for (int32_t p = 0; p < P; p++) {
            ready[p] = yk_number_max(ready[p], finish + yk_graph_delay(graph, edge, source, p));
        }
    }
    ready[source] = at_source;
}

const int64_t *yk_draft_ready_times(struct yk_draft *draft, int32_t task)
{
    const struct yk_graph *graph = draft->graph;
    const int32_t P = graph->device_count;
    int64_t *ready = draft->ready;
    for (int32_t p = 0; p < P; p++) {
        ready[p] = 0;
    }
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_input *input = &graph->inputs[k];
        const int32_t source = draft->schedule->devices[input->from];
        if (source != YK_DRAFT_NO_DEVICE) {
            yk_draft_add_input(graph, input, source, draft->schedule->finishes[input->from], ready);
        }
    }
    return ready;
}

struct yk_draft_slot yk_draft_slot_on(const struct yk_draft *draft, int32_t task, int32_t device,
                                      int64_t ready)
{
    const int64_t cost = yk_graph_cost(draft->graph, task, device);
    const int64_t start = yk_timeline_find(draft->timeline, device, ready, cost);
    return (struct yk_draft_slot){device, start, start + cost};
}

/* The device on which the task would end first if every device were idle. */
static int32_t most_promising(const struct yk_draft *draft, int32_t task, const int64_t *ready)
{
    int32_t best = YK_DRAFT_NO_DEVICE;
    int64_t min = INT64_MAX;
    for (int32_t p = 0; p < draft->graph->device_count; p++) {
        if (yk_draft_allows(draft, task, p) &&
            ready[p] + yk_graph_cost(draft->graph, task, p) < min) {
            best = p;
            min = ready[p] + yk_graph_cost(draft->graph, task, p);
        }
    }
    return best;
}

struct yk_draft_slot yk_draft_best_slot(struct yk_draft *draft, int32_t task)
{
    return yk_draft_best_slot_from(draft, task, yk_draft_ready_times(draft, task));
}

struct yk_draft_slot yk_draft_best_slot_from(const struct yk_draft *draft, int32_t task,
                                             const int64_t *ready)
{
    const int32_t first = most_promising(draft, task, ready);
    struct yk_draft_slot best = yk_draft_slot_on(draft, task, first, ready[first]);
    for (int32_t p = 0; p < draft->graph->device_count; p++) {
        if (p == first || !yk_draft_allows(draft, task, p)) {
            continue;
        }
        /* A device that could not win even if it were idle is not searched for a gap. */
        const int64_t to_beat = p < best.device ? best.finish + 1 : best.finish;
        if (ready[p] + yk_graph_cost(draft->graph, task, p) >= to_beat) {
            continue;
        }
        const struct yk_draft_slot slot = yk_draft_slot_on(draft, task, p, ready[p]);
        if (slot.finish < to_beat) {
            best = slot;
        }
    }
    return best;
}

void yk_draft_place(struct yk_draft *draft, int32_t task, struct yk_draft_slot slot)
{
    struct yk_schedule *schedule = draft->schedule;
    assert(schedule->devices[task] == YK_DRAFT_NO_DEVICE);
    schedule->devices[task] = slot.device;
    schedule->starts[task] = slot.start;
    schedule->finishes[task] = slot.finish;
    schedule->order[draft->placed_count++] = task;
    yk_timeline_add(draft->timeline, slot.device, task, slot.start, slot.finish);
    yk_group_devices_assign(&draft->groups, task, slot.device);
}

void yk_draft_undo(struct yk_draft *draft)
{
    assert(draft->placed_count > 0);
    const int32_t task = draft->schedule->order[--draft->placed_count];
    const int32_t device = draft->schedule->devices[task];
    yk_timeline_remove(draft->timeline, device, task);
    draft->schedule->devices[task] = YK_DRAFT_NO_DEVICE;
    yk_group_devices_remove(&draft->groups, task, device);
}

void yk_draft_finish(struct yk_draft *draft)
{
    assert(draft->placed_count == draft->graph->task_count);
    struct yk_schedule *schedule = draft->schedule;
    schedule->makespan = 0;
    for (int32_t i = 0; i < draft->graph->task_count; i++) {
        schedule->makespan = yk_number_max(schedule->makespan, schedule->finishes[i]);
    }
}
