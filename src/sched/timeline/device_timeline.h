/*
 * Device timeline: the time intervals in which each device is busy. It finds the first gap that has
 * at least a given length. Each device has a search tree, ordered by time, whose nodes know the
 * widest gap of their subtree. So it takes O(log n) to find a gap, to add a task or to remove a
 * task. Times are ticks. A timeline is not thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_DEVICE_TIMELINE_H
#define YK_SCHED_TIMELINE_DEVICE_TIMELINE_H

#include "base/arena.h"

#include <stdint.h>

struct yk_device_timeline;

/* Creates a timeline of idle devices in `arena`. */
yk_status yk_device_timeline_create(struct yk_arena *arena, int32_t task_count,
                                    int32_t device_count,
                                    struct yk_device_timeline **out) YK_MUST_USE;

/* Makes every device idle again. */
void yk_device_timeline_clear(struct yk_device_timeline *timeline);

/* Returns the earliest time, at `ready` or later, from which `device` is idle for `duration`
 * ticks. */
int64_t yk_device_timeline_find_gap(const struct yk_device_timeline *timeline, int32_t device,
                                    int64_t ready, int64_t duration);

/* Marks `device` as busy with `task` from `start` to `finish`. The device must be idle in this
 * interval. */
void yk_device_timeline_add_task(struct yk_device_timeline *timeline, int32_t device, int32_t task,
                                 int64_t start, int64_t finish);

/* Undoes yk_device_timeline_add_task() of `task` on `device`. */
void yk_device_timeline_remove_task(struct yk_device_timeline *timeline, int32_t device,
                                    int32_t task);

/* Returns the task that precedes `task` on `device`, or -1 if there is none. Takes O(log n). */
int32_t yk_device_timeline_previous_task(const struct yk_device_timeline *timeline, int32_t device,
                                         int32_t task);

#endif
