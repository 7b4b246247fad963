/*
 * Memory-aware builder: a schedule builder that keeps every device within its memory limit. Memory
 * is counted as in schedule.h. The output of a task is held until its last consumer has finished.
 * As long as a consumer is not placed, the output is held forever.
 */
#ifndef YK_SCHED_TIMELINE_MEMORY_AWARE_BUILDER_H
#define YK_SCHED_TIMELINE_MEMORY_AWARE_BUILDER_H

#include "sched/timeline/schedule_builder.h"

struct yk_memory_aware_builder;

/* Wraps `builder`, and allocates from its arena. From then on, place tasks only with
 * yk_memory_aware_builder_place(). */
yk_status yk_memory_aware_builder_create(struct yk_schedule_builder *builder,
                                         struct yk_memory_aware_builder **out) YK_MUST_USE;

/* Removes all tasks, also from the wrapped builder. */
void yk_memory_aware_builder_clear(struct yk_memory_aware_builder *builder);

/* Finds the earliest slot on `device`, from `ready` on, where the task and its data fit into
 * memory. Returns false if there is none. */
bool yk_memory_aware_builder_slot_on_device(struct yk_memory_aware_builder *builder, int32_t task,
                                            int32_t device, int64_t ready,
                                            struct yk_schedule_slot *out);

/* The slot with the earliest finish on any device. Its device is YK_SCHEDULE_NO_DEVICE if there is
 * none. */
struct yk_schedule_slot
yk_memory_aware_builder_earliest_slot(struct yk_memory_aware_builder *builder, int32_t task);

/* Places the task and adds the memory that it holds. */
void yk_memory_aware_builder_place(struct yk_memory_aware_builder *builder, int32_t task,
                                   struct yk_schedule_slot slot);

/* For a task without a slot: returns YK_ERROR_NO_FIT. The error message names the device that needs
 * the least additional memory. */
yk_status yk_memory_aware_builder_fail_no_slot(struct yk_memory_aware_builder *builder,
                                               int32_t task) YK_MUST_USE;

#endif
