/*
 * Graph: tasks with their cost on each device, and edges that carry data between tasks.
 *
 * The builder guarantees that the graph has no cycle, that at least one device can run each task,
 * and that all numbers are finite and at least 0. A graph is immutable; any thread may read it.
 *
 * Times are integers in ticks. A tick is 10^-k units of time of the input file, where k is the
 * largest number, up to 22, for which every schedule is shorter than 2^52 ticks. So costs with at
 * most k decimals and their sums are exact, and paths of equal length do not differ because of
 * rounding errors.
 *
 * Files of this folder:
 *   graph             the graph itself
 *   builder           collects and checks the parts of a graph, and makes the graph
 *   read              reads a graph from text in any known format
 *   reader, read_*    the interface of a format; one file for each format
 *   scanner           reads numbers from plain text
 *   example           the graph of `yoke schedule --example`
 */
#ifndef YK_GRAPH_GRAPH_H
#define YK_GRAPH_GRAPH_H

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    YK_GRAPH_MAX_DEVICES = 1024
};

#define YK_GRAPH_INFINITE_COST INT64_MAX    /* the cost of a task on a device that cannot run it */
#define YK_GRAPH_UNLIMITED_MEMORY INT64_MAX /* the memory of a device without a limit */
#define YK_GRAPH_COST_FROM_LINK (-1)        /* the cost of an edge whose time depends on the link */
#define YK_GRAPH_NO_GROUP (-1)
#define YK_GRAPH_NO_SHARED_STORE (-1)

struct yk_graph_edge {
    int32_t from;
    int32_t to;
    int64_t cost; /* ticks of the transfer between two devices, or YK_GRAPH_COST_FROM_LINK */
    /* Size of the transfer. If `cost` is YK_GRAPH_COST_FROM_LINK, the time of the transfer is
     * computed from this size and the link. */
    int64_t bytes;
    int64_t resident_bytes; /* bytes that both devices hold until `to` has finished */
};

/* A copy of the most used members of an edge. */
struct yk_graph_incoming_edge {
    int64_t cost; /* cost of the edge */
    int32_t from;
    int32_t edge; /* index of the edge */
};

struct yk_graph_link {
    double latency_ticks;
    double ticks_per_byte;
};

struct yk_graph_device {
    const char *name;
    int64_t memory_bytes; /* may be YK_GRAPH_UNLIMITED_MEMORY */
};

struct yk_graph_task {
    const char *name;
    /* bytes that the task needs while it runs, without the bytes of its edges */
    int64_t memory_bytes;
    int32_t group; /* may be YK_GRAPH_NO_GROUP */
};

/* Tasks that must run on one device. */
struct yk_graph_group {
    const char *name;
    int64_t resident_bytes; /* bytes that the device of the group holds for the whole schedule */
    int32_t shared_store;   /* shared store that the group uses; may be YK_GRAPH_NO_SHARED_STORE */
};

/* Bytes that several groups share, for example the weights of a layer that several micro-batches
 * use. A device holds the bytes once if it runs at least one of these groups. */
struct yk_graph_shared_store {
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
    bool limited;          /* at least one device has a memory limit */
    double ticks_per_unit; /* a power of ten */
    struct yk_graph_device *devices;
    struct yk_graph_task *tasks;
    struct yk_graph_group *groups;
    struct yk_graph_shared_store *shared_stores;
    /* (n, P) ticks. YK_GRAPH_INFINITE_COST means: the device cannot run the task. If a device
     * cannot run one task of a group, all tasks of the group have this cost on the device. */
    int64_t *costs;
    struct yk_graph_edge *edges; /* sorted by `from`, then in the order of the file */
    /* (n + 1) The edges that leave task i have the indices out_first[i] to out_first[i + 1] - 1 in
     * `edges`. The edges that enter task i have the indices in_first[i] to in_first[i + 1] - 1 in
     * `inputs`. */
    int32_t *out_first;
    int32_t *in_first;
    /* (edge_count) sorted by the task that the edge enters, then by the index of the edge */
    struct yk_graph_incoming_edge *inputs;
    int32_t *order;              /* (n) the tasks in a deterministic topological order */
    struct yk_graph_link *links; /* (P, P) NULL if all links are equal, or if there are no links.
                                    If `links` is NULL, no edge has the cost
                                    YK_GRAPH_COST_FROM_LINK. */
    struct yk_graph_link mean_link;
    struct yk_graph_link fastest_link; /* smallest latency and largest bandwidth of all links */
};

static inline void yk_graph_destroy(struct yk_graph *graph)
{
    if (graph) {
        yk_arena_destroy(graph->arena);
    }
}

/* Returns the ticks that `task` takes on `device`, or YK_GRAPH_INFINITE_COST. */
static inline int64_t yk_graph_task_cost(const struct yk_graph *graph, int32_t task, int32_t device)
{
    return graph->costs[(int64_t)task * graph->device_count + device];
}

static inline bool yk_graph_task_can_run_on(const struct yk_graph *graph, int32_t task,
                                            int32_t device)
{
    return yk_graph_task_cost(graph, task, device) != YK_GRAPH_INFINITE_COST;
}

/* Returns the ticks of the transfer of `edge` between two different devices. */
static inline int64_t yk_graph_transfer_ticks(const struct yk_graph *graph,
                                              const struct yk_graph_edge *edge, int32_t from_device,
                                              int32_t to_device)
{
    if (edge->cost != YK_GRAPH_COST_FROM_LINK) {
        return edge->cost;
    }
    const struct yk_graph_link *link =
        &graph->links[(int64_t)from_device * graph->device_count + to_device];
    return llround(link->latency_ticks + (double)edge->bytes * link->ticks_per_byte);
}

/* Returns the ticks of the transfer of `edge`, or 0 if both devices are the same. */
static inline int64_t yk_graph_edge_delay_ticks(const struct yk_graph *graph,
                                                const struct yk_graph_edge *edge,
                                                int32_t from_device, int32_t to_device)
{
    return from_device == to_device ? 0
                                    : yk_graph_transfer_ticks(graph, edge, from_device, to_device);
}

/* Returns the mean of yk_graph_transfer_ticks() over all ordered pairs of different devices. */
static inline int64_t yk_graph_mean_transfer_ticks(const struct yk_graph *graph,
                                                   const struct yk_graph_edge *edge)
{
    if (edge->cost != YK_GRAPH_COST_FROM_LINK) {
        return edge->cost;
    }
    return llround(graph->mean_link.latency_ticks +
                   (double)edge->bytes * graph->mean_link.ticks_per_byte);
}

/* Converts ticks to the time unit of the input file. */
static inline double yk_graph_ticks_to_time(const struct yk_graph *graph, int64_t ticks)
{
    return (double)ticks / graph->ticks_per_unit;
}

#endif
