/*
 * Assignment: computes the schedule if the device of each task is given. In the comments below, n
 * is the number of tasks.
 */
#ifndef YK_SCHED_ASSIGNMENT_H
#define YK_SCHED_ASSIGNMENT_H

#include "sched/schedule.h"

#include <stddef.h>

enum {
    YK_ASSIGNMENT_NO_PREDECESSOR = -1
};

struct yk_assignment {
    /* (n) device of each task. The device can run the task, and all tasks of a group have the same
     * device. */
    const int32_t *devices;
    /* (n) priority of each task. Tasks with high priority run first; of equal priorities, the task
     * with the lower number runs first. NULL means: the priorities are the upward ranks
     * (task_rank.h). */
    const int64_t *priorities;
    /* (n) task that must finish before this task starts, or YK_ASSIGNMENT_NO_PREDECESSOR. These
     * constraints and the edges together must have no cycle. NULL means: no constraints of this
     * kind. */
    const int32_t *predecessors;
};

/* Computes the schedule. When a device is idle, it runs the task with the highest priority among
 * its tasks whose inputs have arrived and whose predecessor has finished. Ignores memory limits;
 * yk_schedule_check_memory_limits() checks them. */
yk_status yk_assignment_make_schedule(const struct yk_assignment *assignment,
                                      struct yk_schedule *schedule) YK_MUST_USE;

/*
 * Reads the devices of all tasks from a JSON object and writes them to `out`, an array of n
 * elements. The object maps names of tasks or groups to names of devices. An entry for a task
 * overrides the entry for its group. Fails if a task has no device or a device that cannot run it,
 * or if a group has several devices. Error messages begin with `source`.
 */
yk_status yk_assignment_read_devices(const char *text, size_t length, const char *source,
                                     const struct yk_graph *graph, int32_t *out) YK_MUST_USE;

#endif
