/*
 * Group devices: the device each group is assigned to, and how many groups use each store there.
 * Memory is the arena's that it was made in. One thread at a time.
 */
#ifndef YK_SCHED_TIMELINE_GROUP_DEVICES_H
#define YK_SCHED_TIMELINE_GROUP_DEVICES_H

#include "base/arena.h"
#include "graph/graph.h"

enum {
    YK_GROUP_DEVICES_NONE = -1
};

struct yk_group_devices {
    const struct yk_graph *graph;
    int32_t *devices; /* (groups) or YK_GROUP_DEVICES_NONE */
    int32_t *placed;  /* (groups) how many of its tasks are placed */
    int32_t *users;   /* (stores, P) how many groups on each device use the store */
};

yk_status yk_group_devices_create(struct yk_arena *arena, const struct yk_graph *graph,
                                  struct yk_group_devices *out) YK_MUST_USE;

/* Undoes all tasks. */
void yk_group_devices_clear(struct yk_group_devices *groups);

/* `task` is placed on `device`, which yk_group_devices_allow(). */
void yk_group_devices_assign(struct yk_group_devices *groups, int32_t task, int32_t device);

/* `task`, placed on `device`, is undone. */
void yk_group_devices_remove(struct yk_group_devices *groups, int32_t task, int32_t device);

/* The device of the task's group, or YK_GROUP_DEVICES_NONE. */
static inline int32_t yk_group_devices_of_task(const struct yk_group_devices *groups, int32_t task)
{
    const int32_t group = groups->graph->tasks[task].group;
    return group == YK_GRAPH_NO_GROUP ? YK_GROUP_DEVICES_NONE : groups->devices[group];
}

/* Whether the rest of the task's group is on `device` or nowhere yet. */
static inline bool yk_group_devices_allow(const struct yk_group_devices *groups, int32_t task,
                                          int32_t device)
{
    const int32_t assigned = yk_group_devices_of_task(groups, task);
    return assigned == YK_GROUP_DEVICES_NONE || assigned == device;
}

/* The bytes that `device` would hold throughout, and does not yet, once `task` is on it. */
int64_t yk_group_devices_added_bytes(const struct yk_group_devices *groups, int32_t task,
                                     int32_t device);

#endif
