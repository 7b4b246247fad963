#include "sched/search/anneal_state.h"

#include "base/number.h"
#include "sched/bound/makespan_bound.h"
#include "sched/timeline/memory_aware_builder.h"
#include "sched/timeline/schedule_builder.h"

#include <string.h>

enum {
    CHECKPOINT_EVERY = 32,
    NONE = -1
};

/* The end of the tasks that a device has run so far. */
struct device_end {
    int64_t idle_from;
    int32_t last_task; /* or NONE */
};

/* Scratch memory of yk_anneal_state_evaluate(). */
struct yk_anneal_state_scratch {
    struct yk_path_bounds paths;  /* to stop early if the makespan will exceed the limit */
    struct device_end *ends;      /* (P) of the current decoding */
    struct device_end *saved;     /* (checkpoints, P) at every CHECKPOINT_EVERY-th place */
    struct device_end *kept;      /* (checkpoints, P) of the last successful decoding */
    int64_t *trial_starts;        /* (n) of the current decoding */
    int64_t *trial_finishes;      /* (n) */
    int32_t *trial_previous;      /* (n) */
    struct yk_schedule *schedule; /* with memory limits: the result of the builder */
    struct yk_schedule_builder *builder;
    struct yk_memory_aware_builder *fit;
};

static int32_t checkpoint_count(const struct yk_graph *graph)
{
    return graph->task_count / CHECKPOINT_EVERY + 1;
}

static yk_status allocate_arrays(struct yk_anneal_state *state)
{
    const struct yk_graph *graph = state->graph;
    struct yk_arena *arena = state->arena;
    struct yk_anneal_state_scratch *scratch = NULL;
    const int32_t n = graph->task_count;
    const int64_t cells = (int64_t)checkpoint_count(graph) * graph->device_count;
    YK_TRY(yk_schedule_create_in_arena(graph, arena, &state->schedule));
    YK_TRY_NEW(arena, state->places, n);
    YK_TRY_NEW(arena, state->previous, n);
    YK_TRY_NEW(arena, scratch, 1);
    state->scratch = scratch;
    YK_TRY_NEW(arena, scratch->ends, graph->device_count);
    YK_TRY_NEW(arena, scratch->saved, cells);
    YK_TRY_NEW(arena, scratch->kept, cells);
    YK_TRY_NEW(arena, scratch->trial_starts, n);
    YK_TRY_NEW(arena, scratch->trial_finishes, n);
    YK_TRY_NEW(arena, scratch->trial_previous, n);
    YK_TRY(yk_path_bounds_compute(graph, arena, &scratch->paths));
    if (graph->limited) {
        YK_TRY(yk_schedule_create(graph, &scratch->schedule));
        YK_TRY(yk_schedule_builder_create(scratch->schedule, &scratch->builder));
        YK_TRY(yk_memory_aware_builder_create(scratch->builder, &scratch->fit));
    }
    return YK_OK;
}

/* Makes `places` the inverse of the order. */
static void number_places(struct yk_anneal_state *state)
{
    for (int32_t k = 0; k < state->graph->task_count; k++) {
        state->places[state->schedule.order[k]] = k;
    }
}

yk_status yk_anneal_state_load_schedule(struct yk_anneal_state *state,
                                        const struct yk_schedule *schedule)
{
    yk_schedule_copy(schedule, &state->schedule);
    number_places(state);
    yk_number_fill_int32_array(state->previous, state->graph->task_count, NONE);
    /* With limits the order of placement matters; without them only the order in time does. */
    return state->graph->limited ? YK_OK : yk_anneal_state_sort_by_start(state);
}

yk_status yk_anneal_state_create(const struct yk_schedule *schedule, struct yk_anneal_state **out)
{
    struct yk_anneal_state *state = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(state);
    state->graph = schedule->graph;
    yk_status status = allocate_arrays(state);
    YK_IF_OK(yk_anneal_state_load_schedule(state, schedule));
    YK_TRY_OR_CLEAN_UP(status, yk_anneal_state_destroy(state));
    *out = state;
    return YK_OK;
}

void yk_anneal_state_destroy(struct yk_anneal_state *state)
{
    if (!state) {
        return;
    }
    if (state->scratch) {
        yk_schedule_builder_destroy(state->scratch->builder);
        yk_schedule_destroy(state->scratch->schedule);
    }
    yk_arena_destroy(state->arena);
}

/* The time when all inputs of `task` have arrived on `device`, in the current decoding. */
static int64_t ready_time(const struct yk_anneal_state *state, int32_t task, int32_t device)
{
    const struct yk_graph *graph = state->graph;
    const struct yk_anneal_state_scratch *scratch = state->scratch;
    int64_t ready = 0;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_incoming_edge *edge = &graph->inputs[k];
        const int32_t source = state->schedule.devices[edge->from];
        int64_t arrival = scratch->trial_finishes[edge->from];
        if (source != device) {
            arrival +=
                edge->cost != YK_GRAPH_COST_FROM_LINK
                    ? edge->cost
                    : yk_graph_transfer_ticks(graph, &graph->edges[edge->edge], source, device);
        }
        ready = arrival > ready ? arrival : ready;
    }
    return ready;
}

/* Continues the current decoding from the start of checkpoint `first`. */
static int64_t append_tasks(struct yk_anneal_state *state, int32_t first, int64_t limit)
{
    const struct yk_graph *graph = state->graph;
    struct yk_anneal_state_scratch *scratch = state->scratch;
    const size_t P = (size_t)graph->device_count;
    int64_t makespan = 0;
    for (int32_t place = first * CHECKPOINT_EVERY; place < graph->task_count; place++) {
        if (place % CHECKPOINT_EVERY == 0) {
            memcpy(&scratch->saved[(size_t)(place / CHECKPOINT_EVERY) * P], scratch->ends,
                   P * sizeof *scratch->ends);
        }
        const int32_t task = state->schedule.order[place];
        const int32_t device = state->schedule.devices[task];
        const int64_t cell = (int64_t)task * graph->device_count + device;
        const int64_t ready = ready_time(state, task, device);
        struct device_end *end = &scratch->ends[device];
        const int64_t start = ready > end->idle_from ? ready : end->idle_from;
        const int64_t finish = start + graph->costs[cell];
        if (finish + scratch->paths.rest[cell] > limit) {
            return YK_ANNEAL_STATE_REJECTED;
        }
        scratch->trial_starts[task] = start;
        scratch->trial_finishes[task] = finish;
        scratch->trial_previous[task] = end->last_task;
        *end = (struct device_end){finish, task};
    }
    for (size_t p = 0; p < P; p++) {
        makespan = yk_number_max(makespan, scratch->ends[p].idle_from);
    }
    return makespan;
}

static int64_t decode_by_appending(struct yk_anneal_state *state, int32_t first_place,
                                   int64_t limit)
{
    const struct yk_graph *graph = state->graph;
    struct yk_anneal_state_scratch *scratch = state->scratch;
    const size_t n = (size_t)graph->task_count;
    const size_t P = (size_t)graph->device_count;
    const int32_t first = first_place / CHECKPOINT_EVERY;
    const size_t row = (size_t)first * P;
    const size_t later_cells = (size_t)checkpoint_count(graph) * P - row;
    for (size_t p = 0; p < P; p++) {
        scratch->ends[p] = first == 0 ? (struct device_end){0, NONE} : scratch->kept[row + p];
    }
    memcpy(scratch->trial_finishes, state->schedule.finishes, n * sizeof(int64_t));
    const int64_t makespan = append_tasks(state, first, limit);
    if (makespan == YK_ANNEAL_STATE_REJECTED) {
        return makespan;
    }
    for (int32_t place = first * CHECKPOINT_EVERY; place < graph->task_count; place++) {
        const int32_t task = state->schedule.order[place];
        state->schedule.starts[task] = scratch->trial_starts[task];
        state->previous[task] = scratch->trial_previous[task];
    }
    memcpy(state->schedule.finishes, scratch->trial_finishes, n * sizeof(int64_t));
    memcpy(&scratch->kept[row], &scratch->saved[row], later_cells * sizeof *scratch->kept);
    return makespan;
}

static int64_t decode_by_fitting(struct yk_anneal_state *state, int64_t limit)
{
    const struct yk_graph *graph = state->graph;
    struct yk_anneal_state_scratch *scratch = state->scratch;
    struct yk_schedule_builder *builder = scratch->builder;
    yk_memory_aware_builder_clear(scratch->fit);
    for (int32_t place = 0; place < graph->task_count; place++) {
        const int32_t task = state->schedule.order[place];
        const int32_t device = state->schedule.devices[task];
        const int64_t ready = yk_schedule_builder_compute_ready_times(builder, task)[device];
        struct yk_schedule_slot slot;
        if (!yk_memory_aware_builder_find_slot_on(scratch->fit, task, device, ready, &slot) ||
            slot.finish + scratch->paths.rest[(int64_t)task * graph->device_count + device] >
                limit) {
            return YK_ANNEAL_STATE_REJECTED;
        }
        yk_memory_aware_builder_place(scratch->fit, task, slot);
    }
    yk_schedule_builder_compute_makespan(builder);
    memcpy(state->schedule.starts, scratch->schedule->starts,
           (size_t)graph->task_count * sizeof(int64_t));
    memcpy(state->schedule.finishes, scratch->schedule->finishes,
           (size_t)graph->task_count * sizeof(int64_t));
    for (int32_t i = 0; i < graph->task_count; i++) {
        state->previous[i] =
            yk_device_timeline_previous_task(builder->timeline, state->schedule.devices[i], i);
    }
    return scratch->schedule->makespan;
}

int64_t yk_anneal_state_evaluate(struct yk_anneal_state *state, int32_t first_place, int64_t limit)
{
    const int64_t makespan = state->graph->limited ? decode_by_fitting(state, limit)
                                                   : decode_by_appending(state, first_place, limit);
    if (makespan != YK_ANNEAL_STATE_REJECTED) {
        state->schedule.makespan = makespan;
    }
    return makespan;
}

void yk_anneal_state_move_task(struct yk_anneal_state *state, int32_t task, int32_t place)
{
    int32_t *order = state->schedule.order;
    int32_t *places = state->places;
    const int32_t old_place = places[task];
    const int32_t direction = place > old_place ? 1 : -1;
    for (int32_t k = old_place; k != place; k += direction) {
        order[k] = order[k + direction];
        places[order[k]] = k;
    }
    order[place] = task;
    places[task] = place;
}

yk_status yk_anneal_state_sort_by_start(struct yk_anneal_state *state)
{
    const struct yk_schedule *schedule = &state->schedule;
    YK_TRY(yk_schedule_sort_tasks_by_start(NULL, schedule->starts, schedule->finishes,
                                           schedule->order, schedule->graph->task_count));
    number_places(state);
    return YK_OK;
}
