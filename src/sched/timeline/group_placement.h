/*
 * Group placement: the device of each group of tasks. Also counts, for each device and each shared
 * store, the groups on the device that use the store. (A shared store is data that several groups
 * use, such as weights; a device holds it once.) A scheduler adds a task when it places the task,
 * and removes the task when it undoes the placement. In the comments below, P is the number of
 * devices. A group placement is not thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_GROUP_PLACEMENT_H
#define YK_SCHED_TIMELINE_GROUP_PLACEMENT_H

#include "base/arena.h"
#include "graph/graph.h"

enum {
    YK_GROUP_PLACEMENT_NO_DEVICE = -1
};

struct yk_group_placement {
    const struct yk_graph *graph;
    /* (groups) device of the group; YK_GROUP_PLACEMENT_NO_DEVICE means: no task of the group is
     * placed */
    int32_t *devices;
    int32_t *placed; /* (groups) number of placed tasks of the group */
    int32_t *users;  /* (stores, P) number of groups on the device that use the store */
};

/* Creates the arrays in `arena`. No task is placed yet. */
yk_status yk_group_placement_create(struct yk_arena *arena, const struct yk_graph *graph,
                                    struct yk_group_placement *out) YK_MUST_USE;

/* Removes all tasks. */
void yk_group_placement_clear(struct yk_group_placement *groups);

/* Counts `task` as placed on `device`. yk_group_placement_allows_task() must be true for this task
 * and device. */
void yk_group_placement_add_task(struct yk_group_placement *groups, int32_t task, int32_t device);

/* Undoes yk_group_placement_add_task(). */
void yk_group_placement_remove_task(struct yk_group_placement *groups, int32_t task,
                                    int32_t device);

/* Returns the device of the task's group. Returns YK_GROUP_PLACEMENT_NO_DEVICE if no task of the
 * group is placed, or if the task has no group. */
static inline int32_t yk_group_placement_device_of_task(const struct yk_group_placement *groups,
                                                        int32_t task)
{
    const int32_t group = groups->graph->tasks[task].group;
    return group == YK_GRAPH_NO_GROUP ? YK_GROUP_PLACEMENT_NO_DEVICE : groups->devices[group];
}

/* Returns true if the group of the task is on `device` or on no device yet, or if the task has no
 * group. */
static inline bool yk_group_placement_allows_task(const struct yk_group_placement *groups,
                                                  int32_t task, int32_t device)
{
    const int32_t assigned = yk_group_placement_device_of_task(groups, task);
    return assigned == YK_GROUP_PLACEMENT_NO_DEVICE || assigned == device;
}

/* Returns by how many resident bytes the usage of `device` grows if `task` is placed there. These
 * are the bytes of the task's group and of the shared store of the group, without those that the
 * device already holds. */
int64_t yk_group_placement_added_bytes(const struct yk_group_placement *groups, int32_t task,
                                       int32_t device);

#endif
