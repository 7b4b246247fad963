/*
 * Device timeline: the busy intervals of each device. It finds the first gap of a given length.
 * Each device has a search tree, ordered by time, whose nodes know the widest gap of their subtree.
 * So finding a gap, adding a task and removing a task take O(log n). Times are ticks. It is not
 * thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_TIMELINE_H
#define YK_SCHED_TIMELINE_TIMELINE_H

#include "base/arena.h"

#include <stdint.h>

struct yk_timeline;

/* Creates a timeline of idle devices in `arena`. */
yk_status yk_timeline_create(struct yk_arena *arena, int32_t task_count, int32_t device_count,
                             struct yk_timeline **out) YK_MUST_USE;

/* Makes every device idle again. */
void yk_timeline_clear(struct yk_timeline *timeline);

/* The earliest time, at `ready` or later, from which `device` is idle for `duration` ticks. */
int64_t yk_timeline_find(const struct yk_timeline *timeline, int32_t device, int64_t ready,
                         int64_t duration);

/* Marks `device` as busy with `task`. The device must be idle in this interval. */
void yk_timeline_add(struct yk_timeline *timeline, int32_t device, int32_t task, int64_t start,
                     int64_t finish);

/* Undoes yk_timeline_add() of `task` on `device`. */
void yk_timeline_remove(struct yk_timeline *timeline, int32_t device, int32_t task);

/* The preceding task on the same device, or -1. Takes O(log n). */
int32_t yk_timeline_previous(const struct yk_timeline *timeline, int32_t device, int32_t task);

#endif
