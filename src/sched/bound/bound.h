/*
 * Bound: a time that no schedule of a graph can beat, whatever it does.
 *
 * Three arguments are combined. Path: what precedes and what follows a task on its best device must
 * be done; of several inputs, those too far away to come from elsewhere must have been made on the
 * same device, one after the other. Work: with any prices on the devices that add up to one, the
 * priced work of all tasks, each where it is cheapest, fits into the schedule's length (the dual of
 * the fractional assignment). Window: the same for the tasks that cannot start before one time and
 * cannot end after another. All of it is counted exactly, in whole ticks.
 */
#ifndef YK_SCHED_BOUND_BOUND_H
#define YK_SCHED_BOUND_BOUND_H

#include "base/status.h"
#include "graph/graph.h"

#include <stdint.h>

/* The best bound of all three arguments, in ticks. */
yk_status yk_bound_compute(const struct yk_graph *graph, int64_t *out) YK_MUST_USE;

/* The time every cost of the graph is a multiple of, so that some best schedule's length is too. */
int64_t yk_bound_granularity(const struct yk_graph *graph);

#endif
