/*
 * Memory: what a schedule holds on each device, moment by moment.
 *
 * Counted on a device: the resident bytes of every group on it and the bytes of every store
 * that one of them uses, throughout; a task's own bytes from its start to its finish; an edge's
 * bytes from the start of the task that produces it (its finish, on the consumer's device where
 * that is another one) to the finish of the task that uses it. Intervals include their beginning
 * and exclude their end, so a task without length holds nothing of its own. Nothing is evicted.
 */
#ifndef YK_SCHED_MEMORY_H
#define YK_SCHED_MEMORY_H

#include "sched/schedule.h"

/* The most bytes held at any moment, for each device: `out` has room for P. */
yk_status yk_schedule_memory_peaks(const struct yk_schedule *schedule, int64_t *out) YK_MUST_USE;

/* Fails with YK_ERROR_NO_FIT, naming the device and the bytes missing, unless every peak fits. */
yk_status yk_schedule_memory_check(const struct yk_schedule *schedule) YK_MUST_USE;

#endif
