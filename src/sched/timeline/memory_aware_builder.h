/*
 * Memory-aware builder: a schedule builder that keeps every device within its memory limit.
 * schedule.h describes which memory is counted. The resident bytes of an edge are held until its
 * consumer has finished. As long as the consumer is not placed, its finish is unknown, and the
 * bytes count as held forever.
 */
#ifndef YK_SCHED_TIMELINE_MEMORY_AWARE_BUILDER_H
#define YK_SCHED_TIMELINE_MEMORY_AWARE_BUILDER_H

#include "sched/timeline/schedule_builder.h"

struct yk_memory_aware_builder;

/* Wraps `builder` and allocates memory in the arena of `builder`. From then on, tasks must be
 * placed only with yk_memory_aware_builder_place(). */
yk_status yk_memory_aware_builder_create(struct yk_schedule_builder *builder,
                                         struct yk_memory_aware_builder **out) YK_MUST_USE;

/* Removes all tasks, also from the wrapped builder. */
void yk_memory_aware_builder_clear(struct yk_memory_aware_builder *builder);

/* Finds the earliest slot on `device` that starts at `ready` or later and in which the task and its
 * data fit into memory. Returns false if no such slot exists. */
bool yk_memory_aware_builder_find_slot_on(struct yk_memory_aware_builder *builder, int32_t task,
                                          int32_t device, int64_t ready,
                                          struct yk_schedule_slot *out);

/* Returns the slot with the earliest finish on any device. If there is no slot, the member `device`
 * of the result is YK_SCHEDULE_NO_DEVICE. */
struct yk_schedule_slot yk_memory_aware_builder_find_slot(struct yk_memory_aware_builder *builder,
                                                          int32_t task);

/* Places the task and adds the memory that the task holds. */
void yk_memory_aware_builder_place(struct yk_memory_aware_builder *builder, int32_t task,
                                   struct yk_schedule_slot slot);

/* Always fails with YK_ERROR_NO_FIT. Call this if there is no slot for `task`. The error message
 * names the device that needs the least additional memory. */
yk_status yk_memory_aware_builder_fail_no_slot(struct yk_memory_aware_builder *builder,
                                               int32_t task) YK_MUST_USE;

#endif
