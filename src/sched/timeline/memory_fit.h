/*
 * Memory fit: places tasks in a draft so that no device ever holds more than its memory, counted as
 * sched/memory.h says. A task's output counts until its last consumer ends, and for ever while a
 * consumer is not placed yet. Nothing is evicted. It belongs to one draft and its thread.
 */
#ifndef YK_SCHED_TIMELINE_MEMORY_FIT_H
#define YK_SCHED_TIMELINE_MEMORY_FIT_H

#include "sched/timeline/draft.h"

struct yk_memory_fit;

/* Memory is the draft's. */
yk_status yk_memory_fit_create(struct yk_draft *draft, struct yk_memory_fit **out) YK_MUST_USE;

/* Undoes all tasks, in the draft too. */
void yk_memory_fit_clear(struct yk_memory_fit *fit);

/* The first slot on `device` from `ready` on in which the task and its data fit; false if none. */
bool yk_memory_fit_slot_on(struct yk_memory_fit *fit, int32_t task, int32_t device, int64_t ready,
                           struct yk_draft_slot *out);

/* The slot that ends first on any device; its device is YK_DRAFT_NO_DEVICE when there is none. */
struct yk_draft_slot yk_memory_fit_best_slot(struct yk_memory_fit *fit, int32_t task);

/* Places the task in the draft and counts what it holds. */
void yk_memory_fit_place(struct yk_memory_fit *fit, int32_t task, struct yk_draft_slot slot);

/* Why no slot was found: fails with YK_ERROR_NO_FIT, naming the device that lacks least. */
yk_status yk_memory_fit_explain(struct yk_memory_fit *fit, int32_t task) YK_MUST_USE;

#endif
