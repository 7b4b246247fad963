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
    struct yk_schedule_builder *draft;
    struct yk_memory_aware_builder *fit;
};

static int32_t checkpoint_count(const struct yk_graph *graph)
{
    return graph->task_count / CHECKPOINT_EVERY + 1;
}

static yk_status make_decoder(struct yk_anneal_state *solution)
{
    const struct yk_graph *graph = solution->graph;
    struct yk_arena *arena = solution->arena;
    struct yk_anneal_state_scratch *decoder = NULL;
    const int32_t n = graph->task_count;
    const int64_t cells = (int64_t)checkpoint_count(graph) * graph->device_count;
    YK_TRY_NEW(arena, decoder, 1);
    solution->decoder = decoder;
    YK_TRY_NEW(arena, decoder->idle_from, graph->device_count);
    YK_TRY_NEW(arena, decoder->last_task, graph->device_count);
    YK_TRY_NEW(arena, decoder->saved_idle_from, cells);
    YK_TRY_NEW(arena, decoder->saved_last_task, cells);
    YK_TRY_NEW(arena, decoder->kept_idle_from, cells);
    YK_TRY_NEW(arena, decoder->kept_last_task, cells);
    YK_TRY_NEW(arena, decoder->trial_starts, n);
    YK_TRY_NEW(arena, decoder->trial_finishes, n);
    YK_TRY_NEW(arena, decoder->trial_previous, n);
    YK_TRY(yk_path_bounds_compute(graph, arena, &decoder->paths));
    if (graph->limited) {
        YK_TRY(yk_schedule_create(graph, &decoder->schedule));
        YK_TRY(yk_schedule_builder_create(decoder->schedule, &decoder->draft));
        YK_TRY(yk_memory_aware_builder_create(decoder->draft, &decoder->fit));
    }
    return YK_OK;
}

yk_status yk_anneal_state_load_schedule(struct yk_anneal_state *solution,
                                        const struct yk_schedule *schedule)
{
    for (int32_t k = 0; k < solution->graph->task_count; k++) {
        const int32_t task = schedule->order[k];
        solution->order[k] = task;
        solution->places[task] = k;
        solution->devices[task] = schedule->devices[task];
        solution->starts[task] = schedule->starts[task];
        solution->finishes[task] = schedule->finishes[task];
        solution->previous[task] = NONE;
    }
    solution->makespan = schedule->makespan;
    /* With limits the order of placement matters; without them only the order in time does. */
    return solution->graph->limited ? YK_OK : yk_anneal_state_sort_by_start(solution);
}

static yk_status allocate_arrays(struct yk_anneal_state *solution)
{
    const int32_t n = solution->graph->task_count;
    YK_TRY_NEW(solution->arena, solution->order, n);
    YK_TRY_NEW(solution->arena, solution->places, n);
    YK_TRY_NEW(solution->arena, solution->devices, n);
    YK_TRY_NEW(solution->arena, solution->starts, n);
    YK_TRY_NEW(solution->arena, solution->finishes, n);
    YK_TRY_NEW(solution->arena, solution->previous, n);
    return make_decoder(solution);
}

yk_status yk_anneal_state_create(const struct yk_schedule *schedule, struct yk_anneal_state **out)
{
    struct yk_anneal_state *solution = NULL;
    YK_TRY_NEW_WITH_ARENA(solution);
    solution->graph = schedule->graph;
    yk_status status = allocate_arrays(solution);
    YK_THEN(yk_anneal_state_load_schedule(solution, schedule));
    YK_TRY_OR(status, yk_anneal_state_destroy(solution));
    *out = solution;
    return YK_OK;
}

void yk_anneal_state_destroy(struct yk_anneal_state *solution)
{
    if (!solution) {
        return;
    }
    if (solution->decoder) {
        yk_schedule_builder_destroy(solution->decoder->draft);
        yk_schedule_destroy(solution->decoder->schedule);
    }
    yk_arena_destroy(solution->arena);
}

/* The time when all inputs of `task` have arrived on `device`, in the current decoding. */
static int64_t ready_time(const struct yk_anneal_state *solution, int32_t task, int32_t device)
{
    const struct yk_graph *graph = solution->graph;
    const struct yk_anneal_state_scratch *decoder = solution->decoder;
    int64_t ready = 0;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_incoming_edge *input = &graph->inputs[k];
        const int32_t source = solution->devices[input->from];
        int64_t arrival = decoder->trial_finishes[input->from];
        if (source != device) {
            arrival +=
                input->cost != YK_GRAPH_COST_FROM_LINK
                    ? input->cost
                    : yk_graph_transfer_ticks(graph, &graph->edges[input->edge], source, device);
        }
        ready = arrival > ready ? arrival : ready;
    }
    return ready;
}

/* Continues the current decoding from the start of checkpoint `first`. */
static int64_t append_tasks(struct yk_anneal_state *solution, int32_t first, int64_t limit)
{
    const struct yk_graph *graph = solution->graph;
    struct yk_anneal_state_scratch *decoder = solution->decoder;
    const size_t P = (size_t)graph->device_count;
    int64_t makespan = 0;
    for (int32_t place = first * CHECKPOINT_EVERY; place < graph->task_count; place++) {
        if (place % CHECKPOINT_EVERY == 0) {
            const size_t row = (size_t)(place / CHECKPOINT_EVERY) * P;
            memcpy(&decoder->saved_idle_from[row], decoder->idle_from, P * sizeof(int64_t));
            memcpy(&decoder->saved_last_task[row], decoder->last_task, P * sizeof(int32_t));
        }
        const int32_t task = solution->order[place];
        const int32_t device = solution->devices[task];
        const int64_t cell = (int64_t)task * graph->device_count + device;
        const int64_t ready = ready_time(solution, task, device);
        const int64_t idle_from = decoder->idle_from[device];
        const int64_t start = ready > idle_from ? ready : idle_from;
        const int64_t finish = start + graph->costs[cell];
        if (finish + decoder->paths.rest[cell] > limit) {
            return YK_ANNEAL_STATE_REJECTED;
        }
        decoder->trial_starts[task] = start;
        decoder->trial_finishes[task] = finish;
        decoder->trial_previous[task] = decoder->last_task[device];
        decoder->last_task[device] = task;
        decoder->idle_from[device] = finish;
    }
    for (size_t p = 0; p < P; p++) {
        makespan = decoder->idle_from[p] > makespan ? decoder->idle_from[p] : makespan;
    }
    return makespan;
}

static int64_t decode_by_appending(struct yk_anneal_state *solution, int32_t first_place,
                                   int64_t limit)
{
    const struct yk_graph *graph = solution->graph;
    struct yk_anneal_state_scratch *decoder = solution->decoder;
    const size_t n = (size_t)graph->task_count;
    const size_t P = (size_t)graph->device_count;
    const int32_t first = first_place / CHECKPOINT_EVERY;
    const size_t row = (size_t)first * P;
    const size_t later_cells = (size_t)checkpoint_count(graph) * P - row;
    if (first == 0) {
        memset(decoder->idle_from, 0, P * sizeof(int64_t));
        memset(decoder->last_task, 0xff, P * sizeof(int32_t));
    } else {
        memcpy(decoder->idle_from, &decoder->kept_idle_from[row], P * sizeof(int64_t));
        memcpy(decoder->last_task, &decoder->kept_last_task[row], P * sizeof(int32_t));
    }
    memcpy(decoder->trial_finishes, solution->finishes, n * sizeof(int64_t));
    const int64_t makespan = append_tasks(solution, first, limit);
    if (makespan == YK_ANNEAL_STATE_REJECTED) {
        return makespan;
    }
    for (int32_t place = first * CHECKPOINT_EVERY; place < graph->task_count; place++) {
        const int32_t task = solution->order[place];
        solution->starts[task] = decoder->trial_starts[task];
        solution->previous[task] = decoder->trial_previous[task];
    }
    memcpy(solution->finishes, decoder->trial_finishes, n * sizeof(int64_t));
    memcpy(&decoder->kept_idle_from[row], &decoder->saved_idle_from[row],
           later_cells * sizeof(int64_t));
    memcpy(&decoder->kept_last_task[row], &decoder->saved_last_task[row],
           later_cells * sizeof(int32_t));
    return makespan;
}

static int64_t decode_by_fitting(struct yk_anneal_state *solution, int64_t limit)
{
    const struct yk_graph *graph = solution->graph;
    struct yk_anneal_state_scratch *decoder = solution->decoder;
    struct yk_schedule_builder *draft = decoder->draft;
    yk_memory_aware_builder_clear(decoder->fit);
    for (int32_t place = 0; place < graph->task_count; place++) {
        const int32_t task = solution->order[place];
        const int32_t device = solution->devices[task];
        const int64_t ready = yk_schedule_builder_ready_times(draft, task)[device];
        struct yk_schedule_slot slot;
        if (!yk_memory_aware_builder_slot_on_device(decoder->fit, task, device, ready, &slot) ||
            slot.finish + decoder->paths.rest[(int64_t)task * graph->device_count + device] >
                limit) {
            return YK_ANNEAL_STATE_REJECTED;
        }
        yk_memory_aware_builder_place(decoder->fit, task, slot);
    }
    yk_schedule_builder_finish(draft);
    memcpy(solution->starts, decoder->schedule->starts,
           (size_t)graph->task_count * sizeof(int64_t));
    memcpy(solution->finishes, decoder->schedule->finishes,
           (size_t)graph->task_count * sizeof(int64_t));
    for (int32_t i = 0; i < graph->task_count; i++) {
        solution->previous[i] =
            yk_device_timeline_previous_task(draft->timeline, solution->devices[i], i);
    }
    return decoder->schedule->makespan;
}

int64_t yk_anneal_state_evaluate(struct yk_anneal_state *solution, int32_t first_place,
                                 int64_t limit)
{
    const int64_t makespan = solution->graph->limited
                                 ? decode_by_fitting(solution, limit)
                                 : decode_by_appending(solution, first_place, limit);
    if (makespan != YK_ANNEAL_STATE_REJECTED) {
        solution->makespan = makespan;
    }
    return makespan;
}

void yk_anneal_state_move_task(struct yk_anneal_state *solution, int32_t task, int32_t place)
{
    int32_t *order = solution->order;
    int32_t *places = solution->places;
    const int32_t old_place = places[task];
    const int32_t direction = place > old_place ? 1 : -1;
    for (int32_t k = old_place; k != place; k += direction) {
        order[k] = order[k + direction];
        places[order[k]] = k;
    }
    order[place] = task;
    places[task] = place;
}

yk_status yk_anneal_state_sort_by_start(struct yk_anneal_state *solution)
{
    const int32_t n = solution->graph->task_count;
    YK_TRY(yk_schedule_sort_tasks_by_start(NULL, solution->starts, solution->finishes,
                                           solution->order, n));
    for (int32_t k = 0; k < n; k++) {
        solution->places[solution->order[k]] = k;
    }
    return YK_OK;
}

void yk_anneal_state_write_schedule(const struct yk_anneal_state *solution,
                                    struct yk_schedule *schedule)
{
    yk_schedule_fill(schedule, solution->order, solution->devices, solution->starts,
                     solution->finishes);
    schedule->makespan = solution->makespan;
}
