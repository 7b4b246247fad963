#include "sched/assignment.h"

#include "base/arena.h"
#include "base/number.h"
#include "sched/task_heap.h"
#include "sched/task_rank.h"

#include <assert.h>

enum {
    NONE = -1
};

struct walk {
    const struct yk_graph *graph;
    const struct yk_assignment *assignment;
    struct yk_schedule *schedule;
    const int64_t *priorities;
    int64_t *arrivals;        /* (n) when the last of its inputs so far is on its device */
    int64_t *idle_from;       /* (P) */
    int32_t *missing;         /* (n) inputs and predecessors that have not run */
    int32_t *successor_first; /* (n) the first task that has this one as its predecessor, or NONE */
    int32_t *successor_next;  /* (n) the next with the same predecessor, or NONE */
    struct yk_task_heap *coming; /* (P) tasks whose inputs have all run, by arrival */
    struct yk_task_heap
        *there; /* (P) those that have arrived when the device is idle, by priority */
};

static yk_status make_heaps(struct walk *walk, struct yk_arena *arena)
{
    const struct yk_graph *graph = walk->graph;
    int32_t *counts = NULL;
    YK_TRY_NEW(arena, counts, graph->device_count);
    YK_TRY_NEW(arena, walk->coming, graph->device_count);
    YK_TRY_NEW(arena, walk->there, graph->device_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        counts[walk->assignment->devices[i]]++;
    }
    for (int32_t p = 0; p < graph->device_count; p++) {
        walk->coming[p] = (struct yk_task_heap){.keys = walk->arrivals, .ascending = true};
        walk->there[p] = (struct yk_task_heap){.keys = walk->priorities};
        YK_TRY_NEW(arena, walk->coming[p].tasks, counts[p]);
        YK_TRY_NEW(arena, walk->there[p].tasks, counts[p]);
    }
    return YK_OK;
}

static void open_task(struct walk *walk, int32_t task)
{
    yk_task_heap_push(&walk->coming[walk->assignment->devices[task]], task);
}

static yk_status prepare(struct walk *walk, struct yk_arena *arena)
{
    const struct yk_graph *graph = walk->graph;
    int64_t *ranks = NULL;
    YK_TRY_NEW(arena, walk->arrivals, graph->task_count);
    YK_TRY_NEW(arena, walk->idle_from, graph->device_count);
    YK_TRY_NEW(arena, walk->missing, graph->task_count);
    YK_TRY_NEW(arena, walk->successor_first, graph->task_count);
    YK_TRY_NEW(arena, walk->successor_next, graph->task_count);
    YK_TRY_NEW(arena, ranks, graph->task_count);
    walk->priorities = walk->assignment->priorities;
    if (!walk->priorities) {
        yk_task_rank_compute_upward(graph, false, ranks);
        walk->priorities = ranks;
    }
    YK_TRY(make_heaps(walk, arena));
    yk_number_fill_int32_array(walk->successor_first, graph->task_count, NONE);
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t predecessor = walk->assignment->predecessors
                                        ? walk->assignment->predecessors[i]
                                        : YK_ASSIGNMENT_NO_PREDECESSOR;
        walk->missing[i] = graph->in_first[i + 1] - graph->in_first[i];
        if (predecessor != YK_ASSIGNMENT_NO_PREDECESSOR) {
            walk->missing[i]++;
            walk->successor_next[i] = walk->successor_first[predecessor];
            walk->successor_first[predecessor] = i;
        }
        if (walk->missing[i] == 0) {
            open_task(walk, i);
        }
    }
    return YK_OK;
}

static void release(struct walk *walk, int32_t task, int64_t arrival)
{
    walk->arrivals[task] = arrival > walk->arrivals[task] ? arrival : walk->arrivals[task];
    if (--walk->missing[task] == 0) {
        open_task(walk, task);
    }
}

/* When the device starts its next task, of those known so far; INT64_MAX when there is none. */
static int64_t next_start(const struct walk *walk, int32_t device)
{
    const int64_t idle_from = walk->idle_from[device];
    if (walk->there[device].count > 0) {
        return idle_from;
    }
    if (walk->coming[device].count == 0) {
        return INT64_MAX;
    }
    const int64_t arrival = walk->arrivals[walk->coming[device].tasks[0]];
    return arrival > idle_from ? arrival : idle_from;
}

static void run_task(struct walk *walk, int32_t task, int64_t start)
{
    const struct yk_graph *graph = walk->graph;
    const int32_t device = walk->assignment->devices[task];
    const int64_t finish = start + yk_graph_task_cost(graph, task, device);
    walk->schedule->devices[task] = device;
    walk->schedule->starts[task] = start;
    walk->schedule->finishes[task] = finish;
    walk->idle_from[device] = finish;
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        release(walk, edge->to,
                finish + yk_graph_edge_delay_ticks(graph, edge, device,
                                                   walk->assignment->devices[edge->to]));
    }
    for (int32_t i = walk->successor_first[task]; i != NONE; i = walk->successor_next[i]) {
        release(walk, i, finish);
    }
}

/* Runs the next task: on the device that can start first, the task with the highest priority that
 * has arrived by then. A task that starts later cannot release one that starts earlier. */
static int32_t run_next(struct walk *walk)
{
    int32_t device = 0;
    int64_t start = next_start(walk, 0);
    for (int32_t p = 1; p < walk->graph->device_count; p++) {
        const int64_t other = next_start(walk, p);
        device = other < start ? p : device;
        start = other < start ? other : start;
    }
    assert(start != INT64_MAX);
    struct yk_task_heap *coming = &walk->coming[device];
    while (coming->count > 0 && walk->arrivals[coming->tasks[0]] <= start) {
        yk_task_heap_push(&walk->there[device], yk_task_heap_pop(coming));
    }
    const int32_t task = yk_task_heap_pop(&walk->there[device]);
    run_task(walk, task, start);
    return task;
}

static yk_status run(struct walk *walk, struct yk_arena *arena)
{
    struct yk_schedule *schedule = walk->schedule;
    YK_TRY(prepare(walk, arena));
    schedule->makespan = 0;
    schedule->lower_bound = 0;
    for (int32_t k = 0; k < schedule->graph->task_count; k++) {
        const int32_t task = run_next(walk);
        schedule->order[k] = task;
        if (schedule->finishes[task] > schedule->makespan) {
            schedule->makespan = schedule->finishes[task];
        }
    }
    return YK_OK;
}

yk_status yk_assignment_make_schedule(const struct yk_assignment *assignment,
                                      struct yk_schedule *schedule)
{
    struct walk walk = {.graph = schedule->graph, .assignment = assignment, .schedule = schedule};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, run(&walk, arena));
    return YK_OK;
}
