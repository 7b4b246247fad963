/*
 * Draft: a schedule being built: which tasks are placed, when the others could start on each
 * device, and the device of each group. It writes into a schedule; both belong to one thread. Tasks
 * are undone in reverse order. Memory limits are not looked at here: see memory_fit.h.
 */
#ifndef YK_SCHED_TIMELINE_DRAFT_H
#define YK_SCHED_TIMELINE_DRAFT_H

#include "sched/schedule.h"
#include "sched/timeline/group_devices.h"
#include "sched/timeline/timeline.h"

enum {
    YK_DRAFT_NO_DEVICE = YK_GROUP_DEVICES_NONE
};

struct yk_draft {
    const struct yk_graph *graph;
    struct yk_schedule *schedule; /* its `devices` are YK_DRAFT_NO_DEVICE for tasks not placed */
    struct yk_arena *arena;       /* owns the draft */
    struct yk_timeline *timeline;
    struct yk_group_devices groups; /* of the groups */
    int64_t *ready;                 /* (P) room for yk_draft_ready_times */
    int32_t placed_count;           /* the schedule's sequence has this many entries */
};

/* Where and when a task would run. */
struct yk_draft_slot {
    int32_t device; /* YK_DRAFT_NO_DEVICE when there is none */
    int64_t start;
    int64_t finish;
};

yk_status yk_draft_create(struct yk_schedule *schedule, struct yk_draft **out) YK_MUST_USE;
void yk_draft_destroy(struct yk_draft *draft);

/* Undoes all tasks. */
void yk_draft_clear(struct yk_draft *draft);

/* Whether `task` can run on `device`, given where the rest of its group is. */
static inline bool yk_draft_allows(const struct yk_draft *draft, int32_t task, int32_t device)
{
    return yk_group_devices_allow(&draft->groups, task, device) &&
           yk_graph_can_run(draft->graph, task, device);
}

/* Raises `ready` (P) to when the data of `input`, made on `source` until `finish`, is on each
 * device. */
void yk_draft_add_input(const struct yk_graph *graph, const struct yk_graph_input *input,
                        int32_t source, int64_t finish, int64_t *ready);

/*
 * When the inputs of `task` that are placed would be on each device: fills and returns
 * `draft->ready`. Inputs that are not placed yet are left out.
 */
const int64_t *yk_draft_ready_times(struct yk_draft *draft, int32_t task);

/* The slot on `device` that ends first, from `ready` on, gaps included. */
struct yk_draft_slot yk_draft_slot_on(const struct yk_draft *draft, int32_t task, int32_t device,
                                      int64_t ready);

/* The slot that ends first on any device; ties go to the device listed first. */
struct yk_draft_slot yk_draft_best_slot(struct yk_draft *draft, int32_t task);

/* The same when the ready times (P) on the devices are known. */
struct yk_draft_slot yk_draft_best_slot_from(const struct yk_draft *draft, int32_t task,
                                             const int64_t *ready);

void yk_draft_place(struct yk_draft *draft, int32_t task, struct yk_draft_slot slot);

/* Undoes the task placed last. */
void yk_draft_undo(struct yk_draft *draft);

/* Completes the schedule once every task is placed. */
void yk_draft_finish(struct yk_draft *draft);

#endif
