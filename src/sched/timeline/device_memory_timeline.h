/*
 * Device memory timeline: the bytes that each device holds, as a step function of time. The
 * function of each device is stored in a search tree whose nodes know the maximum of their subtree.
 * So it takes O(log n) to change or to search a time interval. Times are ticks. An interval that
 * ends at YK_DEVICE_MEMORY_TIMELINE_FOREVER has no end. A timeline is not thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_DEVICE_MEMORY_TIMELINE_H
#define YK_SCHED_TIMELINE_DEVICE_MEMORY_TIMELINE_H

#include "base/arena.h"

#include <stdint.h>

#define YK_DEVICE_MEMORY_TIMELINE_FOREVER INT64_MAX

struct yk_device_memory_timeline;

/* Creates a timeline in `arena`; all devices hold 0 bytes. `max_steps` is the maximum number of
 * different times at which intervals begin or end, summed over all devices, until the next
 * yk_device_memory_timeline_clear(). */
yk_status yk_device_memory_timeline_create(struct yk_arena *arena, int32_t device_count,
                                           int32_t max_steps,
                                           struct yk_device_memory_timeline **out) YK_MUST_USE;

/* Sets all devices to 0 bytes. */
void yk_device_memory_timeline_clear(struct yk_device_memory_timeline *usage);

/* Adds `bytes` to the usage of `device` in the interval [from, until). `bytes` may be negative. */
void yk_device_memory_timeline_add_bytes(struct yk_device_memory_timeline *usage, int32_t device,
                                         int64_t from, int64_t until, int64_t bytes);

/* Finds the last time in the interval [from, until) at which the usage of `device` exceeds `limit`,
 * and returns the time when the usage changes next. This may be later than `until`. Returns -1 if
 * the usage never exceeds `limit` in the interval. */
int64_t yk_device_memory_timeline_excess_end(const struct yk_device_memory_timeline *usage,
                                             int32_t device, int64_t from, int64_t until,
                                             int64_t limit);

#endif
