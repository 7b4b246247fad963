/*
 * The earliest start of a task on a device follows from its inputs. Each input is produced either
 * on this device, where inputs are produced one after the other, or on another device, and then
 * transferred. If the task starts at time t, all inputs that cannot arrive from another device by t
 * are produced on this device. So t is at least the time to produce these in sequence, or at least
 * the time when one of them can arrive. The bound is the smallest t that is consistent.
 *
 * The bound for the time after a task is the same with time reversed.
 */
#include "sched/bound/makespan_bound.h"

#include "base/number.h"
enum {
    MAX_IN_A_ROW = 64,        /* tasks with more inputs are bounded one input at a time */
    MAX_DEVICES_BY_PAIR = 64, /* with more, every link counts as the fastest one */
};

/* One input, or, in reverse, one output. */
struct branch {
    int64_t head;   /* what lies before it on the device itself; NEVER when it cannot run there */
    int64_t cost;   /* on the device itself */
    int64_t remote; /* the earliest it can be there from elsewhere; NEVER when it cannot */
    int32_t task;
};

/* The two smallest entries of a task's row, to leave one device out in constant time. */
struct smallest {
    int64_t first;
    int64_t second;
    int32_t device;
};

struct walk {
    const struct yk_graph *graph;
    bool forward;  /* from inputs to outputs, else back */
    int64_t *ends; /* (n, P) the end of each task in the direction of the walk; or NEVER */
    struct smallest *smallest; /* (n) of the rows of `ends` */
    struct branch *branches;   /* (MAX_IN_A_ROW) by head */
    int32_t branch_count;
};

/* No two devices exchange the data of `edge` in less. */
static int64_t min_transfer(const struct yk_graph *graph, const struct yk_graph_edge *edge)
{
    const struct yk_graph_link *link = &graph->fastest_link;
    return edge->cost != YK_GRAPH_COST_FROM_LINK
               ? edge->cost
               : llround(link->latency_ticks + (double)edge->bytes * link->ticks_per_byte);
}

/* The earliest the data of `other` can be on `device` from another one. */
static int64_t remote_arrival(const struct walk *walk, const struct yk_graph_edge *edge,
                              int32_t other, int32_t device)
{
    const struct yk_graph *graph = walk->graph;
    const int32_t group = graph->tasks[edge->from].group;
    if (group != YK_GRAPH_NO_GROUP && group == graph->tasks[edge->to].group) {
        return YK_GRAPH_INFINITE_COST;
    }
    if (edge->cost != YK_GRAPH_COST_FROM_LINK || graph->device_count > MAX_DEVICES_BY_PAIR) {
        const struct smallest *smallest = &walk->smallest[other];
        const int64_t end = smallest->device == device ? smallest->second : smallest->first;
        return end == YK_GRAPH_INFINITE_COST ? YK_GRAPH_INFINITE_COST
                                             : end + min_transfer(graph, edge);
    }
    int64_t earliest = YK_GRAPH_INFINITE_COST;
    const int64_t *ends = &walk->ends[(int64_t)other * graph->device_count];
    for (int32_t q = 0; q < graph->device_count; q++) {
        if (q != device && ends[q] != YK_GRAPH_INFINITE_COST) {
            /* Links are the same in both directions. */
            earliest =
                yk_number_min(earliest, ends[q] + yk_graph_transfer_ticks(graph, edge, q, device));
        }
    }
    return earliest;
}

/* Adds a branch, by head; of parallel edges only the slowest counts. */
static void add_branch(struct walk *walk, struct branch branch)
{
    for (int32_t k = 0; k < walk->branch_count; k++) {
        if (walk->branches[k].task == branch.task) {
            walk->branches[k].remote = yk_number_max(walk->branches[k].remote, branch.remote);
            return;
        }
    }
    int32_t place = walk->branch_count++;
    while (place > 0 && walk->branches[place - 1].head > branch.head) {
        walk->branches[place] = walk->branches[place - 1];
        place--;
    }
    walk->branches[place] = branch;
}

/* How long branches not there from elsewhere by `time` take in a row; `next`: when the first can.
 */
static int64_t row_length(const struct walk *walk, int64_t time, int64_t *next)
{
    int64_t length = 0;
    *next = YK_GRAPH_INFINITE_COST;
    for (int32_t k = 0; k < walk->branch_count; k++) {
        const struct branch *branch = &walk->branches[k];
        if (branch->remote <= time) {
            continue;
        }
        *next = yk_number_min(*next, branch->remote);
        if (branch->head == YK_GRAPH_INFINITE_COST) {
            length = YK_GRAPH_INFINITE_COST;
        } else if (length != YK_GRAPH_INFINITE_COST) {
            length = yk_number_max(length, branch->head) + branch->cost;
        }
    }
    return length;
}

static int64_t join_branches(const struct walk *walk)
{
    int64_t time = 0;
    for (;;) {
        int64_t next = YK_GRAPH_INFINITE_COST;
        const int64_t length = row_length(walk, time, &next);
        if (length <= time) {
            return time;
        }
        time = yk_number_min(length, next);
    }
}

/* What branch `other` of an edge is for a task on `device`. */
static struct branch branch_of(const struct walk *walk, const struct yk_graph_edge *edge,
                               int32_t other, int32_t device)
{
    const int64_t cell = (int64_t)other * walk->graph->device_count + device;
    const int64_t cost = walk->graph->costs[cell];
    const bool never = walk->ends[cell] == YK_GRAPH_INFINITE_COST;
    return (struct branch){
        .head = never ? YK_GRAPH_INFINITE_COST : walk->ends[cell] - cost,
        .cost = never ? 0 : cost,
        .remote = remote_arrival(walk, edge, other, device),
        .task = other,
    };
}

static void note_smallest(struct walk *walk, int32_t task)
{
    const int32_t P = walk->graph->device_count;
    const int64_t *ends = &walk->ends[(int64_t)task * P];
    struct smallest smallest = {YK_GRAPH_INFINITE_COST, YK_GRAPH_INFINITE_COST, -1};
    for (int32_t p = 0; p < P; p++) {
        if (ends[p] < smallest.first) {
            smallest = (struct smallest){ends[p], smallest.first, p};
        } else {
            smallest.second = yk_number_min(smallest.second, ends[p]);
        }
    }
    walk->smallest[task] = smallest;
}

/* The least time before `task` on `device`, in the direction of the walk. */
static int64_t time_before(struct walk *walk, int32_t task, int32_t device)
{
    const struct yk_graph *graph = walk->graph;
    const int32_t *places = walk->forward ? graph->in_first : graph->out_first;
    const int32_t first = places[task];
    const int32_t last = places[task + 1];
    const bool in_a_row = last - first <= MAX_IN_A_ROW;
    int64_t before = 0;
    walk->branch_count = 0;
    for (int32_t k = first; k < last; k++) {
        const struct yk_graph_edge *edge = &graph->edges[walk->forward ? graph->inputs[k].edge : k];
        const struct branch branch =
            branch_of(walk, edge, walk->forward ? edge->from : edge->to, device);
        if (in_a_row) {
            add_branch(walk, branch);
        } else {
            const int64_t local = branch.head == YK_GRAPH_INFINITE_COST ? YK_GRAPH_INFINITE_COST
                                                                        : branch.head + branch.cost;
            before = yk_number_max(before, yk_number_min(local, branch.remote));
        }
    }
    return in_a_row ? join_branches(walk) : before;
}

static void visit(struct walk *walk, int32_t task)
{
    const int32_t P = walk->graph->device_count;
    for (int32_t p = 0; p < P; p++) {
        const int64_t cell = (int64_t)task * P + p;
        const int64_t cost = walk->graph->costs[cell];
        walk->ends[cell] = cost == YK_GRAPH_INFINITE_COST ? YK_GRAPH_INFINITE_COST
                                                          : time_before(walk, task, p) + cost;
    }
    note_smallest(walk, task);
}

yk_status yk_path_bounds_compute(const struct yk_graph *graph, struct yk_arena *arena,
                                 struct yk_path_bounds *out)
{
    const int32_t n = graph->task_count;
    const int64_t cells = (int64_t)n * graph->device_count;
    struct walk walk = {.graph = graph};
    YK_TRY_NEW(arena, out->finish, cells);
    YK_TRY_NEW(arena, out->rest, cells);
    YK_TRY_NEW(arena, walk.smallest, n);
    YK_TRY_NEW(arena, walk.branches, MAX_IN_A_ROW);
    walk.ends = out->finish;
    walk.forward = true;
    for (int32_t k = 0; k < n; k++) {
        visit(&walk, graph->order[k]);
    }
    walk.ends = out->rest;
    walk.forward = false;
    for (int32_t k = n - 1; k >= 0; k--) {
        visit(&walk, graph->order[k]);
    }
    /* The walk back counted each task itself too. */
    for (int64_t cell = 0; cell < cells; cell++) {
        out->rest[cell] -=
            graph->costs[cell] == YK_GRAPH_INFINITE_COST ? out->rest[cell] : graph->costs[cell];
    }
    return YK_OK;
}
