/*
 * Evaluate: what a step takes when each layer's device is given for every micro-batch. Only the
 * order is left to choose: how many micro-batches are in flight at once, and whether forward or
 * backward goes first.
 */
#ifndef YK_PLANNER_PLACEMENT_EVALUATE_H
#define YK_PLANNER_PLACEMENT_EVALUATE_H

#include "planner/placement/step_graph.h"
#include "sched/schedule.h"

/* How a schedule stands to the devices' memory. */
struct yk_placement_fit {
    bool fits;
    int32_t device;        /* the one that lacks most, when it does not fit */
    int64_t missing_bytes; /* there */
};

yk_status yk_evaluate_memory(const struct yk_schedule *schedule,
                             struct yk_placement_fit *out) YK_MUST_USE;

/*
 * The shortest schedule found that fits or, when none does, the one that lacks least. `devices` is
 * (M, L); layers that share weights are together.
 */
yk_status yk_evaluate_map(const struct yk_step_graph *step, const int32_t *devices,
                          struct yk_schedule *schedule, struct yk_placement_fit *out) YK_MUST_USE;

/*
 * How long the busiest port of a device is busy, one way. A schedule lets any number of transfers
 * share a link; no step is shorter than what has to pass one port. Counts activations and their
 * gradients between devices, and for each layer that is divided its accumulated gradient once from
 * every other device to where it is updated, and its new weights back.
 */
yk_status yk_evaluate_traffic_s(const struct yk_step_graph *step,
                                const struct yk_schedule *schedule, double *out) YK_MUST_USE;

/* The time of the step: the schedule's, or the busiest port's if that is more. */
yk_status yk_evaluate_step_s(const struct yk_step_graph *step, const struct yk_schedule *schedule,
                             double *out) YK_MUST_USE;

#endif
