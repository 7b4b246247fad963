/*
 * Schedule builder: places tasks one by one in a schedule, and can remove them in reverse order. It
 * finds the earliest slot of a task on each device and keeps the tasks of a group on one device. It
 * ignores memory limits; memory_aware_builder.h respects them. In the comments below, P is the
 * number of devices. A builder is not thread-safe.
 */
#ifndef YK_SCHED_TIMELINE_SCHEDULE_BUILDER_H
#define YK_SCHED_TIMELINE_SCHEDULE_BUILDER_H

#include "sched/schedule.h"
#include "sched/timeline/device_timeline.h"
#include "sched/timeline/group_placement.h"

enum {
    YK_SCHEDULE_NO_DEVICE = YK_GROUP_PLACEMENT_NO_DEVICE
};

struct yk_schedule_builder {
    const struct yk_graph *graph;
    struct yk_schedule *schedule; /* if a task is not placed, its device is YK_SCHEDULE_NO_DEVICE */
    struct yk_arena *arena;       /* owns the builder */
    struct yk_device_timeline *timeline;
    struct yk_group_placement groups;
    int64_t *ready;       /* (P) the result of yk_schedule_builder_compute_ready_times() */
    int32_t placed_count; /* number of placed tasks; schedule->order lists them */
};

/* A device and a time interval for a task. */
struct yk_schedule_slot {
    int32_t device; /* YK_SCHEDULE_NO_DEVICE means: no slot was found */
    int64_t start;
    int64_t finish;
};

yk_status yk_schedule_builder_create(struct yk_schedule *schedule,
                                     struct yk_schedule_builder **out) YK_MUST_USE;
void yk_schedule_builder_destroy(struct yk_schedule_builder *builder);

/* Removes all tasks. */
void yk_schedule_builder_clear(struct yk_schedule_builder *builder);

/* Returns true if `device` can run `task`, and the group of the task is on `device` or on no device
 * yet. */
static inline bool yk_schedule_builder_allows_device(const struct yk_schedule_builder *builder,
                                                     int32_t task, int32_t device)
{
    return yk_group_placement_allows_task(&builder->groups, task, device) &&
           yk_graph_task_can_run_on(builder->graph, task, device);
}

/* The data of `input` is produced on the device `source` at the time `finish`. For each device p:
 * if ready[p] is earlier than the time when the data arrives on p, sets ready[p] to that time. */
void yk_schedule_builder_raise_ready_times(const struct yk_graph *graph,
                                           const struct yk_graph_incoming_edge *input,
                                           int32_t source, int64_t finish, int64_t *ready);

/* Returns an array of P elements: for each device, the time when all inputs of `task` have arrived
 * there. Ignores inputs that are not placed. The array is valid until the next call. Functions that
 * search all devices for a slot also make this call. */
const int64_t *yk_schedule_builder_compute_ready_times(struct yk_schedule_builder *builder,
                                                       int32_t task);

/* Returns the earliest slot on `device` that starts at `ready` or later. The slot may be in a gap
 * between two tasks. */
struct yk_schedule_slot
yk_schedule_builder_find_slot_on_device(const struct yk_schedule_builder *builder, int32_t task,
                                        int32_t device, int64_t ready);

/* Returns the slot with the earliest finish on any device. If several devices finish at the same
 * time, the one with the lowest number is chosen. */
struct yk_schedule_slot yk_schedule_builder_find_earliest_slot(struct yk_schedule_builder *builder,
                                                               int32_t task);

/* Like yk_schedule_builder_find_earliest_slot(), but ready[p] is the earliest start on device p. */
struct yk_schedule_slot
yk_schedule_builder_find_slot_from_ready(const struct yk_schedule_builder *builder, int32_t task,
                                         const int64_t *ready);

void yk_schedule_builder_place(struct yk_schedule_builder *builder, int32_t task,
                               struct yk_schedule_slot slot);

/* Removes the last placed task. */
void yk_schedule_builder_undo_last_place(struct yk_schedule_builder *builder);

/* Computes the makespan. All tasks must be placed. */
void yk_schedule_builder_compute_makespan(struct yk_schedule_builder *builder);

#endif
