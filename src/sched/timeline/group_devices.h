/*
 * Group devices: the device of each group, and the number of groups that use each shared store on
 * each device. Tasks are counted in and out as a scheduler places and removes them. It is not
 * thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_GROUP_DEVICES_H
#define YK_SCHED_TIMELINE_GROUP_DEVICES_H

#include "base/arena.h"
#include "graph/graph.h"

enum {
    YK_GROUP_DEVICES_NO_DEVICE = -1
};

struct yk_group_devices {
    const struct yk_graph *graph;
    int32_t *devices; /* (groups) YK_GROUP_DEVICES_NO_DEVICE: no task of the group is placed */
    int32_t *placed;  /* (groups) number of placed tasks */
    int32_t *users;   /* (stores, P) number of groups on the device that use the store */
};

/* The arrays live in `arena`. */
yk_status yk_group_devices_create(struct yk_arena *arena, const struct yk_graph *graph,
                                  struct yk_group_devices *out) YK_MUST_USE;

/* Removes all tasks. */
void yk_group_devices_clear(struct yk_group_devices *groups);

/* Counts `task` as placed on `device`. yk_group_devices_allow_task() must be true. */
void yk_group_devices_add_task(struct yk_group_devices *groups, int32_t task, int32_t device);

/* Undoes yk_group_devices_add_task(). */
void yk_group_devices_remove_task(struct yk_group_devices *groups, int32_t task, int32_t device);

/* The device of the task's group, or YK_GROUP_DEVICES_NO_DEVICE. */
static inline int32_t yk_group_devices_of_task(const struct yk_group_devices *groups, int32_t task)
{
    const int32_t group = groups->graph->tasks[task].group;
    return group == YK_GRAPH_NO_GROUP ? YK_GROUP_DEVICES_NO_DEVICE : groups->devices[group];
}

/* True if the group of the task is on `device` or not placed. */
static inline bool yk_group_devices_allow_task(const struct yk_group_devices *groups, int32_t task,
                                               int32_t device)
{
    const int32_t assigned = yk_group_devices_of_task(groups, task);
    return assigned == YK_GROUP_DEVICES_NO_DEVICE || assigned == device;
}

/* The additional resident bytes of `device` if `task` is placed on it: those of its group and of
 * the group's shared store, unless the device already holds them. */
int64_t yk_group_devices_added_bytes(const struct yk_group_devices *groups, int32_t task,
                                     int32_t device);

#endif
