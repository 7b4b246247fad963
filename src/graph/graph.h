/*
 * Graph: tasks with costs on each of several devices, and edges that carry data between tasks.
 *
 * The builder has checked it: there is no cycle, every task has a device that can run it, every
 * number is finite and not negative. It never changes afterwards; any thread may read it.
 *
 * Times are whole ticks, 10^-k of the unit the graph was written in, with the largest k for which
 * every schedule's length stays below 2^52 ticks. Decimal costs are therefore exact, sums of them
 * too, and two equal path lengths compare equal: rounding noise never decides a tie.
 *
 * In this room:
 *   graph, builder    the record; what collects and checks it
 *   read, reader      text in any form; one form, and how to add one
 *   read_*, scanner   the forms; numbers of a plain text
 *   example           the graph of `yoke schedule --example`
 */
#ifndef YK_GRAPH_GRAPH_H
#define YK_GRAPH_GRAPH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    YK_GRAPH_MAX_DEVICES = 1024
};

#define YK_GRAPH_NEVER INT64_MAX     /* the cost of a task on a device that cannot run it */
#define YK_GRAPH_UNLIMITED INT64_MAX /* the memory of a device without a limit */
#define YK_GRAPH_BY_LINK (-1)        /* the cost of an edge whose time follows from its bytes */
#define YK_GRAPH_NO_GROUP (-1)
#define YK_GRAPH_NO_STORE (-1)

struct yk_graph_edge {
    int32_t from;
    int32_t to;
    int64_t cost;           /* ticks between two devices, or YK_GRAPH_BY_LINK */
    int64_t bytes;          /* that travel, where the cost is by link */
    int64_t resident_bytes; /* of them, kept on both devices from production to last use */
};

/* An edge as the task it enters needs it. */
struct yk_graph_input {
    int64_t cost; /* as the edge's */
    int32_t from;
    int32_t edge; /* its number */
};

struct yk_graph_link {
    double latency_ticks;
    double ticks_per_byte;
};

struct yk_graph_device {
    const char *name;
    int64_t memory_bytes; /* or YK_GRAPH_UNLIMITED */
};

struct yk_graph_task {
    const char *name;
    int64_t memory_bytes; /* while it runs, besides the bytes of its edges */
    int32_t group;        /* or YK_GRAPH_NO_GROUP */
};

struct yk_graph_group {
    const char *name;
    int64_t resident_bytes; /* held on the group's device throughout */
    int32_t store;          /* what it uses besides, or YK_GRAPH_NO_STORE */
};

/* Bytes that several groups use, such as the weights of a layer that serves several micro-batches:
 * held once on every device where one of those groups is. */
struct yk_graph_store {
    const char *name;
    int64_t bytes;
};

struct yk_graph {
    struct yk_arena *arena; /* owns everything below */
    int32_t device_count;   /* P, at most YK_GRAPH_MAX_DEVICES */
    int32_t task_count;     /* n */
    int32_t edge_count;
    int32_t group_count;
    int32_t store_count;
    bool limited;          /* some device has a memory limit */
    double ticks_per_unit; /* a power of ten */
    struct yk_graph_device *devices;
    struct yk_graph_task *tasks;
    struct yk_graph_group *groups;
    struct yk_graph_store *stores;
    int64_t *costs;                /* (n, P) ticks, or YK_GRAPH_NEVER; equal for all of a group */
    struct yk_graph_edge *edges;   /* by `from`, then in the order of the input */
    int32_t *out_first;            /* (n + 1) edges [out_first[i], out_first[i + 1]) leave task i */
    int32_t *in_first;             /* (n + 1) places in inputs of the edges that enter task i */
    struct yk_graph_input *inputs; /* (edges) by the task they enter, then by edge number */
    int32_t *order;                /* (n) a topological order, the same for the same input */
    struct yk_graph_link *links;   /* (P, P), or NULL where all links are equal or none is needed */
    struct yk_graph_link mean_link;
    struct yk_graph_link fastest_link; /* no link has a smaller latency or takes less for a byte */
};

void yk_graph_destroy(struct yk_graph *graph);

/* The ticks `task` takes on `device`, or YK_GRAPH_NEVER. */
static inline int64_t yk_graph_cost(const struct yk_graph *graph, int32_t task, int32_t device)
{
    return graph->costs[(int64_t)task * graph->device_count + device];
}

static inline bool yk_graph_can_run(const struct yk_graph *graph, int32_t task, int32_t device)
{
    return yk_graph_cost(graph, task, device) != YK_GRAPH_NEVER;
}

/* The ticks the data of `edge` takes between two different devices. */
static inline int64_t yk_graph_transfer(const struct yk_graph *graph,
                                        const struct yk_graph_edge *edge, int32_t from_device,
                                        int32_t to_device)
{
    if (edge->cost != YK_GRAPH_BY_LINK) {
        return edge->cost;
    }
    const struct yk_graph_link *link =
        &graph->links[(int64_t)from_device * graph->device_count + to_device];
    return llround(link->latency_ticks + (double)edge->bytes * link->ticks_per_byte);
}

/* The ticks the data of `edge` takes: none on one device. */
static inline int64_t yk_graph_delay(const struct yk_graph *graph, const struct yk_graph_edge *edge,
                                     int32_t from_device, int32_t to_device)
{
    return from_device == to_device ? 0 : yk_graph_transfer(graph, edge, from_device, to_device);
}

/* The mean of yk_graph_transfer over all ordered pairs of different devices. */
int64_t yk_graph_mean_transfer(const struct yk_graph *graph, const struct yk_graph_edge *edge);

/* Ticks in the unit the graph was written in. */
static inline double yk_graph_time(const struct yk_graph *graph, int64_t ticks)
{
    return (double)ticks / graph->ticks_per_unit;
}

#endif
