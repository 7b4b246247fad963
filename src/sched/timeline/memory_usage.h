/*
 * Usage: how many bytes each device holds, as a function of time.
 *
 * A step function for each device, kept in a search tree by time in which a subtree knows its
 * highest step, so that adding over a span and asking about a span are O(log n). Times are ticks;
 * YK_MEMORY_USAGE_FOREVER as the end of a span means all time after its beginning. One thread at a
 * time.
 */
#ifndef YK_SCHED_TIMELINE_MEMORY_USAGE_H
#define YK_SCHED_TIMELINE_MEMORY_USAGE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

#define YK_MEMORY_USAGE_FOREVER INT64_MAX

struct yk_memory_usage;

/* `most_steps` is how many different times the spans added between two clears may begin and end at,
 * all devices together. Memory is the arena's. */
yk_status yk_memory_usage_create(struct yk_arena *arena, int32_t device_count, int32_t most_steps,
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
