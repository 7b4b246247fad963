/*
 * Homes: the device each group has settled on, and how many groups use each store there. What
 * drafts and partial schedules ask before they place a task.
 *
 * Memory is the arena's that it was made in. One thread at a time.
 */
#ifndef YK_SCHED_HOMES_H
#define YK_SCHED_HOMES_H

#include "base/arena.h"
#include "graph/graph.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_HOMES_NOWHERE = -1
};

struct yk_homes {
    const struct yk_graph *graph;
    int32_t *devices; /* (groups) or YK_HOMES_NOWHERE */
    int32_t *placed;  /* (groups) how many of its tasks are placed */
    int32_t *users;   /* (stores, P) how many groups on each device use the store */
};

yk_status yk_homes_create(struct yk_arena *arena, const struct yk_graph *graph,
                          struct yk_homes *out) YK_MUST_USE;

/* Takes all tasks back. */
void yk_homes_clear(struct yk_homes *homes);

/* `task` is placed on `device`, which yk_homes_allow(). */
void yk_homes_settle(struct yk_homes *homes, int32_t task, int32_t device);

/* `task`, placed on `device`, is taken back. */
void yk_homes_leave(struct yk_homes *homes, int32_t task, int32_t device);

/* The device of the task's group, or YK_HOMES_NOWHERE. */
static inline int32_t yk_homes_device(const struct yk_homes *homes, int32_t task)
{
    const int32_t group = homes->graph->tasks[task].group;
    return group == YK_GRAPH_NO_GROUP ? YK_HOMES_NOWHERE : homes->devices[group];
}

/* Whether the rest of the task's group is on `device` or nowhere yet. */
static inline bool yk_homes_allow(const struct yk_homes *homes, int32_t task, int32_t device)
{
    const int32_t settled = yk_homes_device(homes, task);
    return settled == YK_HOMES_NOWHERE || settled == device;
}

/* The bytes that `device` would hold throughout, and does not yet, once `task` is on it. */
int64_t yk_homes_bytes_to_come(const struct yk_homes *homes, int32_t task, int32_t device);

#endif
