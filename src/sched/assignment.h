/*
 * Assignment: the device of each task, given in advance, and the schedule that follows from it.
 */
#ifndef YK_SCHED_ASSIGNMENT_H
#define YK_SCHED_ASSIGNMENT_H

#include "sched/schedule.h"

#include <stddef.h>

enum {
    YK_ASSIGNMENT_NO_PREDECESSOR = -1
};

struct yk_assignment {
    const int32_t *devices;    /* (n) able to run the task; one device for all tasks of a group */
    const int64_t *priorities; /* (n) high values first, ties by task number; NULL: upward rank */
    /* (n) a task that must finish before this one starts, or YK_ASSIGNMENT_NO_PREDECESSOR. These
     * constraints and the edges must form no cycle. NULL: no such constraints. */
    const int32_t *predecessors;
};

/* Computes the schedule: an idle device runs the task with the highest priority of those whose
 * inputs have arrived. Ignores memory limits; see yk_schedule_memory_check(). */
yk_status yk_assignment_schedule(const struct yk_assignment *assignment,
                                 struct yk_schedule *schedule) YK_MUST_USE;

/*
 * Reads the devices of all tasks from a JSON object that maps names of tasks or groups to names of
 * devices, and writes them to `out` (n). An entry of a task overrides the entry of its group. Fails
 * if a task has no device, or if a group has several. Error messages begin with `source`.
 */
yk_status yk_assignment_read(const char *text, size_t length, const char *source,
                             const struct yk_graph *graph, int32_t *out) YK_MUST_USE;

#endif
