/*
 * Memory usage: how many bytes each device holds, as a step function of time, in a search tree in
 * which every subtree knows its highest step: adding over a span and asking about one are O(log n).
 * Times are ticks; a span that ends at YK_MEMORY_USAGE_FOREVER has no end. One thread at a time.
 */
#ifndef YK_SCHED_TIMELINE_MEMORY_USAGE_H
#define YK_SCHED_TIMELINE_MEMORY_USAGE_H

#include "base/arena.h"

#include <stdint.h>

#define YK_MEMORY_USAGE_FOREVER INT64_MAX

struct yk_memory_usage;

/* `max_steps` is how many different times the spans added between two clears may begin and end at,
 * all devices together. Memory is the arena's. */
yk_status yk_memory_usage_create(struct yk_arena *arena, int32_t device_count, int32_t max_steps,
                                 struct yk_memory_usage **out) YK_MUST_USE;

/* Makes every device hold nothing. */
void yk_memory_usage_clear(struct yk_memory_usage *usage);

/* Adds `bytes`, which may be negative, over [from, until). */
void yk_memory_usage_add(struct yk_memory_usage *usage, int32_t device, int64_t from, int64_t until,
                         int64_t bytes);

/*
 * The end of the last step in [from, until) that is higher than `limit`: the earliest time from
 * which the rest of the span is at or under it. -1 when the whole span is.
 */
int64_t yk_memory_usage_excess_end(const struct yk_memory_usage *usage, int32_t device,
                                   int64_t from, int64_t until, int64_t limit);

#endif
