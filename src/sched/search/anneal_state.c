#include "sched/search/anneal_state.h"

#include "sched/bound/makespan_bound.h"
#include "sched/timeline/memory_aware_builder.h"
#include "sched/timeline/schedule_builder.h"

#include <string.h>

enum {
    CHECKPOINT_EVERY = 32,
    NONE = -1
};

/* Scratch memory of yk_anneal_state_evaluate(). */
struct yk_anneal_state_scratch {
    struct yk_path_bounds paths;  /* to stop early if the makespan will exceed the limit */
    int64_t *idle_from;           /* (P) */
    int32_t *last_task;           /* (P) */
    int64_t *saved_idle_from;     /* (checkpoints, P) at every CHECKPOINT_EVERY-th place */
    int32_t *saved_last_task;     /* (checkpoints, P) */
    int64_t *trial_starts;        /* (n) of the current decoding */
    int64_t *trial_finishes;      /* (n) */
    int32_t *trial_previous;      /* (n) */
    int64_t *kept_idle_from;      /* (checkpoints, P) of the last successful decoding */
    int32_t *kept_last_task;      /* (checkpoints, P) */
    struct yk_schedule *schedule; /* with memory limits: the result of the builder */
    struct yk_schedule_builder *builder;
    struct yk_memory_aware_builder *fit;
};

static int32_t checkpoint_count(const struct yk_graph *graph)
{
    return graph->task_count / CHECKPOINT_EVERY + 1;
}

static yk_status make_decoder(struct yk_anneal_state *state)
{
    const struct yk_graph *graph = state->graph;
    struct yk_arena *arena = state->arena;
    struct yk_anneal_state_scratch *scratch = NULL;
    const int32_t n = graph->task_count;
    const int64_t cells = (int64_t)checkpoint_count(graph) * graph->device_count;
    YK_TRY_NEW(arena, scratch, 1);
    state->scratch = scratch;
    YK_TRY_NEW(arena, scratch->idle_from, graph->device_count);
    YK_TRY_NEW(arena, scratch->last_task, graph->device_count);
    YK_TRY_NEW(arena, scratch->saved_idle_from, cells);
    YK_TRY_NEW(arena, scratch->saved_last_task, cells);
    YK_TRY_NEW(arena, scratch->kept_idle_from, cells);
    YK_TRY_NEW(arena, scratch->kept_last_task, cells);
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

yk_status yk_anneal_state_load_schedule(struct yk_anneal_state *state,
                                        const struct yk_schedule *schedule)
{
    for (int32_t k = 0; k < state->graph->task_count; k++) {
        const int32_t task = schedule->order[k];
        state->order[k] = task;
        state->places[task] = k;
        state->devices[task] = schedule->devices[task];
        state->starts[task] = schedule->starts[task];
        state->finishes[task] = schedule->finishes[task];
        state->previous[task] = NONE;
    }
    state->makespan = schedule->makespan;
    /* With limits the order of placement matters; without them only the order in time does. */
    return state->graph->limited ? YK_OK : yk_anneal_state_sort_by_start(state);
}

static yk_status allocate_arrays(struct yk_anneal_state *state)
{
    const int32_t n = state->graph->task_count;
    YK_TRY_NEW(state->arena, state->order, n);
    YK_TRY_NEW(state->arena, state->places, n);
    YK_TRY_NEW(state->arena, state->devices, n);
    YK_TRY_NEW(state->arena, state->starts, n);
    YK_TRY_NEW(state->arena, state->finishes, n);
    YK_TRY_NEW(state->arena, state->previous, n);
    return make_decoder(state);
}

yk_status yk_anneal_state_create(const struct yk_schedule *schedule, struct yk_anneal_state **out)
{
    struct yk_anneal_state *state = NULL;
    YK_TRY_NEW_WITH_ARENA(state);
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
        const int32_t source = state->devices[edge->from];
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
            const size_t row = (size_t)(place / CHECKPOINT_EVERY) * P;
            memcpy(&scratch->saved_idle_from[row], scratch->idle_from, P * sizeof(int64_t));
            memcpy(&scratch->saved_last_task[row], scratch->last_task, P * sizeof(int32_t));
        }
        const int32_t task = state->order[place];
        const int32_t device = state->devices[task];
        const int64_t cell = (int64_t)task * graph->device_count + device;
        const int64_t ready = ready_time(state, task, device);
        const int64_t idle_from = scratch->idle_from[device];
        const int64_t start = ready > idle_from ? ready : idle_from;
        const int64_t finish = start + graph->costs[cell];
        if (finish + scratch->paths.rest[cell] > limit) {
            return YK_ANNEAL_STATE_REJECTED;
        }
        scratch->trial_starts[task] = start;
        scratch->trial_finishes[task] = finish;
        scratch->trial_previous[task] = scratch->last_task[device];
        scratch->last_task[device] = task;
        scratch->idle_from[device] = finish;
    }
    for (size_t p = 0; p < P; p++) {
        makespan = scratch->idle_from[p] > makespan ? scratch->idle_from[p] : makespan;
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
    if (first == 0) {
        memset(scratch->idle_from, 0, P * sizeof(int64_t));
        memset(scratch->last_task, 0xff, P * sizeof(int32_t));
    } else {
        memcpy(scratch->idle_from, &scratch->kept_idle_from[row], P * sizeof(int64_t));
        memcpy(scratch->last_task, &scratch->kept_last_task[row], P * sizeof(int32_t));
    }
    memcpy(scratch->trial_finishes, state->finishes, n * sizeof(int64_t));
    const int64_t makespan = append_tasks(state, first, limit);
    if (makespan == YK_ANNEAL_STATE_REJECTED) {
        return makespan;
    }
    for (int32_t place = first * CHECKPOINT_EVERY; place < graph->task_count; place++) {
        const int32_t task = state->order[place];
        state->starts[task] = scratch->trial_starts[task];
        state->previous[task] = scratch->trial_previous[task];
    }
    memcpy(state->finishes, scratch->trial_finishes, n * sizeof(int64_t));
    memcpy(&scratch->kept_idle_from[row], &scratch->saved_idle_from[row],
           later_cells * sizeof(int64_t));
    memcpy(&scratch->kept_last_task[row], &scratch->saved_last_task[row],
           later_cells * sizeof(int32_t));
    return makespan;
}

static int64_t decode_by_fitting(struct yk_anneal_state *state, int64_t limit)
{
    const struct yk_graph *graph = state->graph;
    struct yk_anneal_state_scratch *scratch = state->scratch;
    struct yk_schedule_builder *builder = scratch->builder;
    yk_memory_aware_builder_clear(scratch->fit);
    for (int32_t place = 0; place < graph->task_count; place++) {
        const int32_t task = state->order[place];
        const int32_t device = state->devices[task];
        const int64_t ready = yk_schedule_builder_ready_times(builder, task)[device];
        struct yk_schedule_slot slot;
        if (!yk_memory_aware_builder_slot_on_device(scratch->fit, task, device, ready, &slot) ||
            slot.finish + scratch->paths.rest[(int64_t)task * graph->device_count + device] >
                limit) {
            return YK_ANNEAL_STATE_REJECTED;
        }
        yk_memory_aware_builder_place(scratch->fit, task, slot);
    }
    yk_schedule_builder_set_makespan(builder);
    memcpy(state->starts, scratch->schedule->starts, (size_t)graph->task_count * sizeof(int64_t));
    memcpy(state->finishes, scratch->schedule->finishes,
           (size_t)graph->task_count * sizeof(int64_t));
    for (int32_t i = 0; i < graph->task_count; i++) {
        state->previous[i] =
            yk_device_timeline_previous_task(builder->timeline, state->devices[i], i);
    }
    return scratch->schedule->makespan;
}

int64_t yk_anneal_state_evaluate(struct yk_anneal_state *state, int32_t first_place, int64_t limit)
{
    const int64_t makespan = state->graph->limited ? decode_by_fitting(state, limit)
                                                   : decode_by_appending(state, first_place, limit);
    if (makespan != YK_ANNEAL_STATE_REJECTED) {
        state->makespan = makespan;
    }
    return makespan;
}

void yk_anneal_state_move_task(struct yk_anneal_state *state, int32_t task, int32_t place)
{
    int32_t *order = state->order;
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
    const int32_t n = state->graph->task_count;
    YK_TRY(yk_schedule_sort_tasks_by_start(NULL, state->starts, state->finishes, state->order, n));
    for (int32_t k = 0; k < n; k++) {
        state->places[state->order[k]] = k;
    }
    return YK_OK;
}

void yk_anneal_state_write_schedule(const struct yk_anneal_state *state,
                                    struct yk_schedule *schedule)
{
    yk_schedule_set_arrays(schedule, state->order, state->devices, state->starts, state->finishes);
    schedule->makespan = state->makespan;
}
