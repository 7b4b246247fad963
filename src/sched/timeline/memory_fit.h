/*
 * Memory-aware builder: a schedule builder that keeps every device within its memory limit. Memory
 * is counted as in schedule.h. The output of a task is held until its last consumer has finished.
 * As long as a consumer is not placed, the output is held forever.
 */
#ifndef YK_SCHED_TIMELINE_MEMORY_FIT_H
#define YK_SCHED_TIMELINE_MEMORY_FIT_H

#include "sched/timeline/draft.h"

struct yk_memory_fit;

/* Wraps `draft`, and allocates from its arena. From then on, place tasks only with
 * yk_memory_fit_place(). */
yk_status yk_memory_fit_create(struct yk_draft *draft, struct yk_memory_fit **out) YK_MUST_USE;

/* Removes all tasks, also from the wrapped builder. */
void yk_memory_fit_clear(struct yk_memory_fit *fit);

/* Finds the earliest slot on `device`, from `ready` on, where the task and its data fit into
 * memory. Returns false if there is none. */
bool yk_memory_fit_slot_on(struct yk_memory_fit *fit, int32_t task, int32_t device, int64_t ready,
                           struct yk_draft_slot *out);

/* The slot with the earliest finish on any device. Its device is YK_DRAFT_NO_DEVICE if there is
 * none. */
struct yk_draft_slot yk_memory_fit_best_slot(struct yk_memory_fit *fit, int32_t task);

/* Places the task and adds the memory that it holds. */
void yk_memory_fit_place(struct yk_memory_fit *fit, int32_t task, struct yk_draft_slot slot);

/* For a task without a slot: returns YK_ERROR_NO_FIT. The error message names the device that needs
 * the least additional memory. */
yk_status yk_memory_fit_explain(struct yk_memory_fit *fit, int32_t task) YK_MUST_USE;

#endif
