#include "sched/search/partial_schedule.h"

#include "base/clock.h"
#include "base/number.h"
#include "sched/timeline/schedule_builder.h"

#include <stdlib.h>

static yk_status allocate_arrays(struct yk_partial_schedule *partial, struct yk_arena *arena,
                                 int64_t max_states)
{
    const int32_t n = partial->graph->task_count;
    const int32_t P = partial->graph->device_count;
    YK_TRY(yk_schedule_create_in_arena(partial->graph, arena, &partial->schedule));
    YK_TRY_NEW(arena, partial->idle_from, P);
    YK_TRY_NEW(arena, partial->used, P);
    YK_TRY_NEW(arena, partial->missing, n);
    YK_TRY_NEW(arena, partial->unused, n);
    YK_TRY(yk_group_placement_create(arena, partial->graph, &partial->groups));
    YK_TRY_NEW(arena, partial->free_bytes, P);
    YK_TRY_NEW(arena, partial->needed_bytes, n);
    YK_TRY_NEW(arena, partial->twin, P);
    YK_TRY_NEW(arena, partial->key, n);
    YK_TRY_NEW(arena, partial->times, n + P);
    YK_TRY_NEW(arena, partial->ends, (int64_t)n * P);
    YK_TRY_NEW(arena, partial->min_end, n);
    YK_TRY(yk_path_bounds_compute(partial->graph, arena, &partial->paths));
    return yk_visited_states_create(arena, n, n + P, max_states, &partial->visited);
}

static bool same_link(const struct yk_graph_link *a, const struct yk_graph_link *b)
{
    return a->latency_ticks == b->latency_ticks && a->ticks_per_byte == b->ticks_per_byte;
}

/* Whether swapping two devices changes no cost, no transfer and no limit. */
static bool are_twins(const struct yk_graph *graph, int32_t a, int32_t b)
{
    const int32_t P = graph->device_count;
    if (graph->devices[a].memory_bytes != graph->devices[b].memory_bytes) {
        return false;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (yk_graph_task_cost(graph, i, a) != yk_graph_task_cost(graph, i, b)) {
            return false;
        }
    }
    for (int32_t q = 0; graph->links && q < P; q++) {
        if (q != a && q != b && !same_link(&graph->links[a * P + q], &graph->links[b * P + q])) {
            return false;
        }
    }
    return true;
}

static void begin(struct yk_partial_schedule *partial)
{
    const struct yk_graph *graph = partial->graph;
    for (int32_t i = 0; i < graph->task_count; i++) {
        partial->schedule.devices[i] = YK_SCHEDULE_NO_DEVICE;
        partial->missing[i] = graph->in_first[i + 1] - graph->in_first[i];
        partial->unused[i] = graph->out_first[i + 1] - graph->out_first[i];
        partial->needed_bytes[i] = graph->tasks[i].memory_bytes;
    }
    for (int32_t e = 0; e < graph->edge_count; e++) {
        partial->needed_bytes[graph->edges[e].from] += graph->edges[e].resident_bytes;
        partial->needed_bytes[graph->edges[e].to] += graph->edges[e].resident_bytes;
    }
    for (int32_t p = 0; p < graph->device_count; p++) {
        partial->free_bytes[p] = graph->devices[p].memory_bytes;
        partial->twin[p] = p;
        for (int32_t q = 0; q < p && partial->twin[p] == p; q++) {
            partial->twin[p] = are_twins(graph, q, p) ? q : p;
        }
    }
}

static yk_status price_tasks(struct yk_partial_schedule_priced_work *work,
                             const struct yk_graph *graph, struct yk_arena *arena)
{
    YK_TRY_NEW(arena, work->cheapest, graph->task_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        work->cheapest[i] = yk_dual_prices_min_task_price(&work->prices, graph, i);
        work->left += work->cheapest[i];
    }
    return YK_OK;
}

yk_status yk_partial_schedule_create(const struct yk_graph *graph, int64_t max_states,
                                     struct yk_arena *arena, struct yk_partial_schedule **out)
{
    struct yk_partial_schedule *partial = NULL;
    YK_TRY_NEW(arena, partial, 1);
    partial->graph = graph;
    partial->granularity = yk_makespan_bound_gcd_of_costs(graph);
    YK_TRY(allocate_arrays(partial, arena, max_states));
    YK_TRY(yk_dual_prices_set_equal(graph, arena, &partial->works[0].prices));
    YK_TRY(yk_dual_prices_search(graph, arena, &partial->works[1].prices));
    for (int i = 0; i < YK_PARTIAL_SCHEDULE_PRICE_SETS; i++) {
        YK_TRY(price_tasks(&partial->works[i], graph, arena));
    }
    begin(partial);
    *out = partial;
    return YK_OK;
}

/* Updates the counts for a task that is placed (`delta` 1) or removed (`delta` -1). */
static void count_task(struct yk_partial_schedule *partial, int32_t task, int32_t device,
                       int32_t delta)
{
    const struct yk_graph *graph = partial->graph;
    partial->placed += delta;
    partial->used[device] += delta;
    for (int i = 0; i < YK_PARTIAL_SCHEDULE_PRICE_SETS; i++) {
        partial->works[i].left -= delta * partial->works[i].cheapest[task];
    }
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        partial->missing[graph->edges[e].to] -= delta;
    }
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        partial->unused[graph->inputs[k].from] -= delta;
    }
}

void yk_partial_schedule_place(struct yk_partial_schedule *partial,
                               const struct yk_partial_schedule_step *step)
{
    const int32_t task = step->task;
    partial->schedule.order[partial->placed] = task;
    partial->schedule.devices[task] = step->device;
    partial->schedule.starts[task] = step->start;
    partial->schedule.finishes[task] = step->finish;
    partial->idle_from[step->device] = step->finish;
    count_task(partial, task, step->device, 1);
    partial->free_bytes[step->device] -=
        yk_group_placement_added_bytes(&partial->groups, task, step->device);
    yk_group_placement_add_task(&partial->groups, task, step->device);
}

void yk_partial_schedule_undo(struct yk_partial_schedule *partial,
                              const struct yk_partial_schedule_step *step)
{
    const int32_t task = step->task;
    partial->schedule.devices[task] = YK_SCHEDULE_NO_DEVICE;
    partial->idle_from[step->device] = step->idle_from;
    count_task(partial, task, step->device, -1);
    yk_group_placement_remove_task(&partial->groups, task, step->device);
    partial->free_bytes[step->device] +=
        yk_group_placement_added_bytes(&partial->groups, task, step->device);
}

/* True if `device` can run the task, its group may be there, and memory suffices for both. */
static bool allows(const struct yk_partial_schedule *partial, int32_t task, int32_t device)
{
    const struct yk_graph *graph = partial->graph;
    const int64_t cost = yk_graph_task_cost(graph, task, device);
    const bool limited = graph->devices[device].memory_bytes != YK_GRAPH_UNLIMITED_MEMORY;
    /* A task without length holds nothing at any moment. */
    int64_t needed = limited && cost > 0 ? partial->needed_bytes[task] : 0;
    needed += yk_group_placement_added_bytes(&partial->groups, task, device);
    return cost != YK_GRAPH_INFINITE_COST &&
           yk_group_placement_allows_task(&partial->groups, task, device) &&
           needed <= partial->free_bytes[device];
}

/* The earliest arrival of the edge's data on `device`; NEVER when its source has no device left. */
static int64_t earliest_arrival(const struct yk_partial_schedule *partial,
                                const struct yk_graph_edge *edge, int32_t device)
{
    const struct yk_graph *graph = partial->graph;
    const int32_t source = partial->schedule.devices[edge->from];
    if (source != YK_SCHEDULE_NO_DEVICE) {
        return partial->schedule.finishes[edge->from] +
               yk_graph_edge_delay_ticks(graph, edge, source, device);
    }
    const int64_t *ends = &partial->ends[(int64_t)edge->from * graph->device_count];
    const int32_t group = graph->tasks[edge->from].group;
    if (group != YK_GRAPH_NO_GROUP && group == graph->tasks[edge->to].group) {
        return ends[device];
    }
    if (edge->cost != YK_GRAPH_COST_FROM_LINK &&
        partial->min_end[edge->from] != YK_GRAPH_INFINITE_COST) {
        const int64_t elsewhere = partial->min_end[edge->from] + edge->cost;
        return ends[device] < elsewhere ? ends[device] : elsewhere;
    }
    int64_t earliest = YK_GRAPH_INFINITE_COST;
    for (int32_t q = 0; q < graph->device_count; q++) {
        if (ends[q] != YK_GRAPH_INFINITE_COST) {
            const int64_t arrival = ends[q] + yk_graph_edge_delay_ticks(graph, edge, q, device);
            earliest = arrival < earliest ? arrival : earliest;
        }
    }
    return earliest;
}

/* The earliest start of `task` on `device`; NEVER when it has none. */
static int64_t earliest_start(const struct yk_partial_schedule *partial, int32_t task,
                              int32_t device)
{
    const struct yk_graph *graph = partial->graph;
    int64_t start = partial->idle_from[device];
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const int64_t arrival =
            earliest_arrival(partial, &graph->edges[graph->inputs[k].edge], device);
        start = arrival > start ? arrival : start;
    }
    return start;
}

/* Fills the task's row of `ends`; returns the smallest makespan through it, or NEVER. */
static int64_t bound_task(struct yk_partial_schedule *partial, int32_t task)
{
    const struct yk_graph *graph = partial->graph;
    const int64_t P = graph->device_count;
    int64_t min_through = YK_GRAPH_INFINITE_COST;
    int64_t min_end = YK_GRAPH_INFINITE_COST;
    for (int32_t p = 0; p < P; p++) {
        const int64_t cell = task * P + p;
        const int64_t start =
            allows(partial, task, p) ? earliest_start(partial, task, p) : YK_GRAPH_INFINITE_COST;
        partial->ends[cell] = YK_GRAPH_INFINITE_COST;
        if (start != YK_GRAPH_INFINITE_COST) {
            const int64_t end = start + graph->costs[cell];
            const int64_t through = end + partial->paths.rest[cell];
            partial->ends[cell] = end;
            min_end = end < min_end ? end : min_end;
            min_through = through < min_through ? through : min_through;
        }
    }
    partial->min_end[task] = min_end;
    return min_through;
}

/* Each device is busy with the placed tasks until `idle_from`; the unplaced work comes on top. */
static int64_t bound_work(const struct yk_partial_schedule_priced_work *work,
                          const struct yk_partial_schedule *partial)
{
    yk_dual_priced_ticks sum = work->left;
    for (int32_t p = 0; p < partial->graph->device_count; p++) {
        sum += (yk_dual_priced_ticks)partial->idle_from[p] * work->prices.of_device[p];
    }
    return yk_dual_prices_work_to_ticks(&work->prices, sum);
}

/* A lower bound for all schedules that continue the partial one; stops early at `limit`. */
static int64_t bound_rest(struct yk_partial_schedule *partial, int64_t limit)
{
    const struct yk_graph *graph = partial->graph;
    int64_t bound = yk_partial_schedule_makespan(partial);
    for (int i = 0; i < YK_PARTIAL_SCHEDULE_PRICE_SETS; i++) {
        const int64_t time = bound_work(&partial->works[i], partial);
        bound = time > bound ? time : bound;
    }
    for (int32_t k = 0; k < graph->task_count && bound < limit; k++) {
        const int32_t task = graph->order[k];
        if (partial->schedule.devices[task] == YK_SCHEDULE_NO_DEVICE) {
            const int64_t through = bound_task(partial, task);
            bound = through > bound ? through : bound;
        }
    }
    return bound == YK_GRAPH_INFINITE_COST
               ? bound
               : (bound + partial->granularity - 1) / partial->granularity * partial->granularity;
}

bool yk_partial_schedule_dominated_or_add(struct yk_partial_schedule *partial)
{
    const struct yk_graph *graph = partial->graph;
    const int32_t P = graph->device_count;
    if (partial->keeps_dominated) {
        return false;
    }
    int32_t count = 0;
    for (int32_t p = 0; p < P; p++) {
        partial->times[count++] = partial->idle_from[p];
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t group = graph->tasks[i].group;
        const int32_t device = partial->schedule.devices[i];
        int32_t code = 0; /* not placed */
        if (device == YK_SCHEDULE_NO_DEVICE) {
            const int32_t assigned = yk_group_placement_device_of_task(&partial->groups, i);
            code = assigned == YK_SCHEDULE_NO_DEVICE ? 0 : 2 + P + assigned;
        } else if (partial->unused[i] > 0) {
            code = 2 + device;
            partial->times[count++] = partial->schedule.finishes[i];
        } else if (graph->limited && group != YK_GRAPH_NO_GROUP) {
            code = 2 + 2 * P + device; /* what its group holds there still matters */
        } else {
            code = 1; /* done with: where and when no longer matters */
        }
        partial->key[i] = (uint16_t)code;
    }
    return yk_visited_states_dominate_or_add(partial->visited, partial->key, partial->times, count);
}

int64_t yk_partial_schedule_makespan(const struct yk_partial_schedule *partial)
{
    int64_t makespan = 0;
    for (int32_t p = 0; p < partial->graph->device_count; p++) {
        makespan = partial->idle_from[p] > makespan ? partial->idle_from[p] : makespan;
    }
    return makespan;
}

static int compare_steps(const void *left, const void *right)
{
    const struct yk_partial_schedule_step *a = left;
    const struct yk_partial_schedule_step *b = right;
    int order = yk_number_compare(a->bound, b->bound);
    order = order != 0 ? order : yk_number_compare(a->start, b->start);
    order = order != 0 ? order : yk_number_compare(a->task, b->task);
    return order != 0 ? order : yk_number_compare(a->device, b->device);
}

/* Of equal unused devices, only the first is tried: the others give the same schedules. */
static bool has_unused_twin(const struct yk_partial_schedule *partial, int32_t device)
{
    for (int32_t p = partial->twin[device]; p < device; p++) {
        if (partial->twin[p] == partial->twin[device] && partial->used[p] == 0) {
            return partial->used[device] == 0;
        }
    }
    return false;
}

/* The step that appends `task` on `device`, with its bound. */
static struct yk_partial_schedule_step try_step(struct yk_partial_schedule *partial, int32_t task,
                                                int32_t device, int64_t limit)
{
    const struct yk_graph *graph = partial->graph;
    struct yk_partial_schedule_step step = {
        .task = task,
        .device = device,
        .start = earliest_start(partial, task, device),
        .idle_from = partial->idle_from[device],
    };
    step.finish = step.start + yk_graph_task_cost(graph, task, device);
    yk_partial_schedule_place(partial, &step);
    step.bound = bound_rest(partial, limit);
    yk_partial_schedule_undo(partial, &step);
    return step;
}

int32_t yk_partial_schedule_list_next_steps(struct yk_partial_schedule *partial, int64_t limit,
                                            struct yk_partial_schedule_step *out)
{
    int32_t count = 0;
    for (int32_t task = 0; task < partial->graph->task_count; task++) {
        if (partial->schedule.devices[task] != YK_SCHEDULE_NO_DEVICE ||
            partial->missing[task] > 0) {
            continue;
        }
        if (partial->deadline_s > 0 && yk_clock_now_s() >= partial->deadline_s) {
            partial->timed_out = true;
            return 0;
        }
        for (int32_t p = 0; p < partial->graph->device_count; p++) {
            if (allows(partial, task, p) && !has_unused_twin(partial, p)) {
                out[count] = try_step(partial, task, p, limit);
                count += out[count].bound < limit ? 1 : 0;
            }
        }
    }
    qsort(out, (size_t)count, sizeof *out, compare_steps);
    return count;
}
