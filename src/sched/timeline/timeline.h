/*
 * Timeline: when each device is busy, and where its first gap of a given length is. One search tree
 * for each device, ordered by time, in which every subtree knows its widest gap: finding a gap,
 * adding and removing a task are O(log n). Times are ticks. One thread at a time.
 */
#ifndef YK_SCHED_TIMELINE_TIMELINE_H
#define YK_SCHED_TIMELINE_TIMELINE_H

#include "base/arena.h"

#include <stdint.h>

struct yk_timeline;

/* For `task_count` tasks on `device_count` devices, none of them busy; memory is the arena's. */
yk_status yk_timeline_create(struct yk_arena *arena, int32_t task_count, int32_t device_count,
                             struct yk_timeline **out) YK_MUST_USE;

/* Makes every device idle again. */
void yk_timeline_clear(struct yk_timeline *timeline);

/* The earliest time from `ready` on at which `device` is idle for `duration` ticks. */
int64_t yk_timeline_find(const struct yk_timeline *timeline, int32_t device, int64_t ready,
                         int64_t duration);

/* Makes `device` busy with `task`; the time must be free. */
void yk_timeline_add(struct yk_timeline *timeline, int32_t device, int32_t task, int64_t start,
                     int64_t finish);

/* Undoes yk_timeline_add() of `task` on `device`. */
void yk_timeline_remove(struct yk_timeline *timeline, int32_t device, int32_t task);

/* The task before `task` on its device, or -1; O(log n). */
int32_t yk_timeline_previous(const struct yk_timeline *timeline, int32_t device, int32_t task);

#endif
