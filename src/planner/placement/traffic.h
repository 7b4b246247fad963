/*
 * Traffic: how long the busiest port of a device is busy during a step. A schedule of tasks lets
 * any number of transfers share a link; no step is shorter than what has to pass one port, one way.
 */
#ifndef YK_PLANNER_PLACEMENT_TRAFFIC_H
#define YK_PLANNER_PLACEMENT_TRAFFIC_H

#include "planner/placement/step_graph.h"
#include "sched/schedule.h"

/*
 * Counts activations and their gradients between devices, and for each layer that is divided its
 * accumulated gradient once from every other device to where it is updated, and its new weights
 * back. Both directions of a port are apart.
 */
yk_status yk_evaluate_traffic_s(const struct yk_step_graph *step,
                                const struct yk_schedule *schedule, double *out) YK_MUST_USE;

/* The time of the step: the schedule's, or the busiest port's if that is more. */
yk_status yk_evaluate_step_s(const struct yk_step_graph *step, const struct yk_schedule *schedule,
                             double *out) YK_MUST_USE;

#endif
