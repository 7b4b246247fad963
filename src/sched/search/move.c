#include "sched/search/move.h"

#include "base/arena.h"

#include <assert.h>

enum {
    NONE = -1
};

struct yk_move_generator {
    struct yk_solution *solution;
    int32_t *path; /* (n) the tasks of the critical path, the last one first */
    int32_t path_length;
    bool path_known;
    int32_t *group_first; /* (groups + 1) places in group_tasks */
    int32_t *group_tasks; /* (tasks with a group) */
};

static yk_status list_groups(struct yk_move_generator *generator)
{
    const struct yk_graph *graph = generator->solution->graph;
    struct yk_arena *arena = generator->solution->arena;
    int32_t *filled = NULL;
    YK_TRY_NEW(arena, generator->group_first, graph->group_count + 1);
    YK_TRY_NEW(arena, generator->group_tasks, graph->task_count);
    YK_TRY_NEW(arena, filled, graph->group_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (graph->tasks[i].group != YK_GRAPH_NO_GROUP) {
            generator->group_first[graph->tasks[i].group + 1]++;
        }
    }
    for (int32_t g = 0; g < graph->group_count; g++) {
        generator->group_first[g + 1] += generator->group_first[g];
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t group = graph->tasks[i].group;
        if (group != YK_GRAPH_NO_GROUP) {
            generator->group_tasks[generator->group_first[group] + filled[group]++] = i;
        }
    }
    return YK_OK;
}

yk_status yk_move_generator_create(struct yk_solution *solution, struct yk_move_generator **out)
{
    struct yk_move_generator *generator = NULL;
    YK_TRY_NEW(solution->arena, generator, 1);
    YK_TRY_NEW(solution->arena, generator->path, solution->graph->task_count);
    generator->solution = solution;
    YK_TRY(list_groups(generator));
    *out = generator;
    return YK_OK;
}

void yk_move_invalidate_path(struct yk_move_generator *generator)
{
    generator->path_known = false;
}

/* The input whose data `task` started on as soon as it arrived, or NONE. */
static int32_t critical_input(const struct yk_solution *solution, int32_t task)
{
    const struct yk_graph *graph = solution->graph;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        const int64_t arrival =
            solution->finishes[edge->from] +
            yk_graph_delay(graph, edge, solution->devices[edge->from], solution->devices[task]);
        if (arrival == solution->starts[task]) {
            return edge->from;
        }
    }
    return NONE;
}

/*
 * Whether `task` started as soon as its device was done with the task before it. Of tasks without
 * length at one moment only those earlier in the sequence count, as is so for inputs: every step of
 * the path then goes back in time or in the sequence, and it ends.
 */
static bool device_was_busy(const struct yk_solution *solution, int32_t task)
{
    const int32_t previous = solution->previous[task];
    return previous != NONE && solution->finishes[previous] == solution->starts[task] &&
           (solution->starts[previous] < solution->starts[task] ||
            solution->places[previous] < solution->places[task]);
}

static void find_path(struct yk_move_generator *generator)
{
    const struct yk_solution *solution = generator->solution;
    int32_t task = 0;
    for (int32_t i = 1; i < solution->graph->task_count; i++) {
        task = solution->finishes[i] > solution->finishes[task] ? i : task;
    }
    generator->path_length = 0;
    while (task != NONE) {
        assert(generator->path_length < solution->graph->task_count);
        generator->path[generator->path_length++] = task;
        task = device_was_busy(solution, task) ? solution->previous[task]
                                               : critical_input(solution, task);
    }
    generator->path_known = true;
}

static int32_t draw_task(struct yk_move_generator *generator, struct yk_random *random)
{
    if (!generator->path_known) {
        find_path(generator);
    }
    /* Where a task waited for memory the path is not followed further, so others matter more. */
    const int64_t elsewhere_in_eight = generator->solution->graph->limited ? 4 : 1;
    if (yk_random_below(random, 8) < elsewhere_in_eight) {
        return (int32_t)yk_random_below(random, generator->solution->graph->task_count);
    }
    return generator->path[yk_random_below(random, generator->path_length)];
}

/* The places `task` can have in the sequence: after its inputs and before what uses it. */
static void find_room(const struct yk_solution *solution, int32_t task, int32_t *first,
                      int32_t *last)
{
    const struct yk_graph *graph = solution->graph;
    *first = 0;
    *last = graph->task_count - 1;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const int32_t place = solution->places[graph->inputs[k].from];
        *first = place + 1 > *first ? place + 1 : *first;
    }
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        const int32_t place = solution->places[graph->edges[e].to];
        *last = place - 1 < *last ? place - 1 : *last;
    }
}

/* A device other than the present one: that of the input it waits for as often as any. */
static bool draw_device(const struct yk_solution *solution, struct yk_random *random,
                        struct yk_move *move)
{
    const struct yk_graph *graph = solution->graph;
    const int32_t present = solution->devices[move->task];
    int32_t device = NONE;
    if (graph->device_count < 2) {
        return false;
    }
    if (yk_random_below(random, 2) == 0) {
        const int32_t input = critical_input(solution, move->task);
        device = input == NONE ? NONE : solution->devices[input];
    }
    if (device == NONE || device == present) {
        device = (int32_t)yk_random_below(random, graph->device_count - 1);
        device += device >= present ? 1 : 0;
    }
    move->device = device;
    return yk_graph_can_run(graph, move->task, device);
}

static void draw_place(const struct yk_solution *solution, struct yk_random *random,
                       struct yk_move *move)
{
    int32_t first = 0;
    int32_t last = 0;
    find_room(solution, move->task, &first, &last);
    const int32_t previous = solution->previous[move->task];
    const int32_t before = previous == NONE ? NONE : solution->places[previous];
    const int64_t kind = yk_random_below(random, 4);
    if (kind < 2 && before >= first && before < move->old_place) {
        move->place = before;
    } else if (kind == 2 && first < move->old_place) {
        move->place = first + (int32_t)yk_random_below(random, move->old_place - first);
    } else {
        move->place = first + (int32_t)yk_random_below(random, last - first + 1);
    }
}

static int32_t first_of_group(const struct yk_move_generator *generator, int32_t group,
                              int32_t place)
{
    for (int32_t k = generator->group_first[group]; k < generator->group_first[group + 1]; k++) {
        const int32_t other = generator->solution->places[generator->group_tasks[k]];
        place = other < place ? other : place;
    }
    return place;
}

bool yk_move_propose(struct yk_move_generator *generator, struct yk_random *random,
                     struct yk_move *out)
{
    const struct yk_solution *solution = generator->solution;
    const int32_t task = draw_task(generator, random);
    struct yk_move move = {
        .task = task,
        .device = solution->devices[task],
        .place = solution->places[task],
        .old_device = solution->devices[task],
        .old_place = solution->places[task],
    };
    const int64_t kind = yk_random_below(random, 8);
    const bool changes_device = kind < 5 && draw_device(solution, random, &move);
    if (!changes_device) {
        move.device = move.old_device;
    }
    if (!changes_device || kind == 0) {
        draw_place(solution, random, &move);
    }
    if (move.device == move.old_device && move.place == move.old_place) {
        return false;
    }
    move.first_place = move.place < move.old_place ? move.place : move.old_place;
    const int32_t group = solution->graph->tasks[task].group;
    if (changes_device && group != YK_GRAPH_NO_GROUP) {
        move.first_place = first_of_group(generator, group, move.first_place);
    }
    *out = move;
    return true;
}

static void set_device(struct yk_move_generator *generator, int32_t task, int32_t device)
{
    const int32_t group = generator->solution->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP) {
        generator->solution->devices[task] = device;
        return;
    }
    for (int32_t k = generator->group_first[group]; k < generator->group_first[group + 1]; k++) {
        generator->solution->devices[generator->group_tasks[k]] = device;
    }
}

void yk_move_apply(struct yk_move_generator *generator, const struct yk_move *move)
{
    set_device(generator, move->task, move->device);
    yk_solution_shift(generator->solution, move->task, move->place);
}

void yk_move_undo(struct yk_move_generator *generator, const struct yk_move *move)
{
    set_device(generator, move->task, move->old_device);
    yk_solution_shift(generator->solution, move->task, move->old_place);
}
