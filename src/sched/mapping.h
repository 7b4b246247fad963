/*
 * Mapping: the schedule of tasks whose devices are given. Whenever a device is idle it runs, of the
 * tasks whose data is there, the one with the highest priority. Memory is not looked at: see
 * memory.h.
 */
#ifndef YK_SCHED_MAPPING_H
#define YK_SCHED_MAPPING_H

#include "sched/schedule.h"

enum {
    YK_MAPPING_NO_GATE = -1
};

struct yk_mapping {
    const int32_t *devices;    /* (n) each can run its task, groups are together */
    const int64_t *priorities; /* (n) the highest first, ties by task number; NULL: upward rank */
    const int32_t *gates;      /* (n) a task that must have finished before, or YK_MAPPING_NO_GATE;
                                  together with the edges there is no cycle. May be NULL */
};

yk_status yk_mapping_run(const struct yk_mapping *mapping,
                         struct yk_schedule *schedule) YK_MUST_USE;

#endif
