#include "sched/mapped.h"

#include "base/arena.h"
#include "sched/rank.h"

#include <assert.h>

enum {
    NONE = -1
};

struct walk {
    const struct yk_graph *graph;
    const struct yk_mapping *mapping;
    struct yk_schedule *schedule;
    const int64_t *priorities;
    int64_t *arrivals;    /* (n) when the last of its inputs so far is on its device */
    int64_t *idle_from;   /* (P) */
    int32_t *missing;     /* (n) inputs and gates that have not run */
    int32_t *gated_first; /* (n) the first task that waits for this one as its gate, or NONE */
    int32_t *gated_next;  /* (n) the next with the same gate, or NONE */
    int32_t *open;        /* (open_count) tasks whose inputs have all run */
    int32_t open_count;
};

static yk_status prepare(struct walk *walk, struct yk_arena *arena)
{
    const struct yk_graph *graph = walk->graph;
    int64_t *ranks = NULL;
    YK_TRY_NEW(arena, walk->arrivals, graph->task_count);
    YK_TRY_NEW(arena, walk->idle_from, graph->device_count);
    YK_TRY_NEW(arena, walk->missing, graph->task_count);
    YK_TRY_NEW(arena, walk->gated_first, graph->task_count);
    YK_TRY_NEW(arena, walk->gated_next, graph->task_count);
    YK_TRY_NEW(arena, walk->open, graph->task_count);
    YK_TRY_NEW(arena, ranks, graph->task_count);
    walk->priorities = walk->mapping->priorities;
    if (!walk->priorities) {
        yk_rank_upward(graph, ranks);
        walk->priorities = ranks;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        walk->gated_first[i] = NONE;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t gate = walk->mapping->gates ? walk->mapping->gates[i] : YK_MAPPED_NO_GATE;
        walk->missing[i] = graph->in_first[i + 1] - graph->in_first[i];
        if (gate != YK_MAPPED_NO_GATE) {
            walk->missing[i]++;
            walk->gated_next[i] = walk->gated_first[gate];
            walk->gated_first[gate] = i;
        }
        if (walk->missing[i] == 0) {
            walk->open[walk->open_count++] = i;
        }
    }
    return YK_OK;
}

static int64_t start_of(const struct walk *walk, int32_t task)
{
    const int64_t idle_from = walk->idle_from[walk->mapping->devices[task]];
    return walk->arrivals[task] > idle_from ? walk->arrivals[task] : idle_from;
}

/* Whether `a` goes before `b`: nothing that starts later can release anything that starts earlier,
 * so the earliest start is next; on one device that start is the same for all that are there. */
static bool goes_before(const struct walk *walk, int32_t a, int32_t b)
{
    const int64_t start_a = start_of(walk, a);
    const int64_t start_b = start_of(walk, b);
    if (start_a != start_b) {
        return start_a < start_b;
    }
    if (walk->priorities[a] != walk->priorities[b]) {
        return walk->priorities[a] > walk->priorities[b];
    }
    return a < b;
}

static void release(struct walk *walk, int32_t task, int64_t arrival)
{
    walk->arrivals[task] = arrival > walk->arrivals[task] ? arrival : walk->arrivals[task];
    if (--walk->missing[task] == 0) {
        walk->open[walk->open_count++] = task;
    }
}

static void run_task(struct walk *walk, int32_t task)
{
    const struct yk_graph *graph = walk->graph;
    const int32_t device = walk->mapping->devices[task];
    const int64_t start = start_of(walk, task);
    const int64_t finish = start + yk_graph_cost(graph, task, device);
    walk->schedule->devices[task] = device;
    walk->schedule->starts[task] = start;
    walk->schedule->finishes[task] = finish;
    walk->idle_from[device] = finish;
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        release(walk, edge->to,
                finish + yk_graph_delay(graph, edge, device, walk->mapping->devices[edge->to]));
    }
    for (int32_t i = walk->gated_first[task]; i != NONE; i = walk->gated_next[i]) {
        release(walk, i, finish);
    }
}

static void run_all(struct walk *walk)
{
    struct yk_schedule *schedule = walk->schedule;
    schedule->makespan = 0;
    for (int32_t k = 0; k < walk->graph->task_count; k++) {
        assert(walk->open_count > 0);
        int32_t next = 0;
        for (int32_t i = 1; i < walk->open_count; i++) {
            next = goes_before(walk, walk->open[i], walk->open[next]) ? i : next;
        }
        const int32_t task = walk->open[next];
        walk->open[next] = walk->open[--walk->open_count];
        run_task(walk, task);
        schedule->sequence[k] = task;
        if (schedule->finishes[task] > schedule->makespan) {
            schedule->makespan = schedule->finishes[task];
        }
    }
}

yk_status yk_mapped_run(const struct yk_mapping *mapping, struct yk_schedule *schedule)
{
    struct walk walk = {
        .graph = schedule->graph,
        .mapping = mapping,
        .schedule = schedule,
    };
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = prepare(&walk, arena);
    if (status == YK_OK) {
        run_all(&walk);
        schedule->lower_bound = 0;
    }
    yk_arena_destroy(arena);
    return status;
}
