/*
 * Memory usage: the bytes that each device holds, as a step function of time. The function is
 * stored in a search tree whose nodes know the maximum of their subtree, so updates and queries of
 * a time interval take O(log n). Times are ticks. An interval that ends at
 * YK_DEVICE_MEMORY_TIMELINE_FOREVER has no end. A memory usage is not thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_DEVICE_MEMORY_TIMELINE_H
#define YK_SCHED_TIMELINE_DEVICE_MEMORY_TIMELINE_H

#include "base/arena.h"

#include <stdint.h>

#define YK_DEVICE_MEMORY_TIMELINE_FOREVER INT64_MAX

struct yk_device_memory_timeline;

/* Creates a memory usage of 0 bytes in `arena`. `max_steps` limits the number of different times
 * at which intervals begin or end, for all devices together, until the next
 * yk_device_memory_timeline_clear(). */
yk_status yk_device_memory_timeline_create(struct yk_arena *arena, int32_t device_count,
                                           int32_t max_steps,
                                           struct yk_device_memory_timeline **out) YK_MUST_USE;

/* Sets all devices to 0 bytes. */
void yk_device_memory_timeline_clear(struct yk_device_memory_timeline *usage);

/* Adds `bytes` in the interval [from, until). `bytes` may be negative. */
void yk_device_memory_timeline_add_bytes(struct yk_device_memory_timeline *usage, int32_t device,
                                         int64_t from, int64_t until, int64_t bytes);

/* Returns the end of the last time span in [from, until) in which the usage exceeds `limit`. This
 * end may be later than `until`. Returns -1 if the usage never exceeds `limit` in the interval. */
int64_t yk_device_memory_timeline_excess_end(const struct yk_device_memory_timeline *usage,
                                             int32_t device, int64_t from, int64_t until,
                                             int64_t limit);

#endif
