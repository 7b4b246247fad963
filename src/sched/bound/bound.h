/*
 * Bound: a makespan that no schedule of a graph can beat, in whole ticks: the best of three.
 *
 * Path: what precedes and follows a task on its best device (paths.h). Work: with any prices on the
 * devices that add up to one, the priced work of all tasks, each where it is cheapest, fits into
 * the makespan: the dual of the fractional assignment (prices.h). Window: the same for the tasks
 * that cannot start before one time and cannot end after another.
 */
#ifndef YK_SCHED_BOUND_BOUND_H
#define YK_SCHED_BOUND_BOUND_H

#include "base/status.h"
#include "graph/graph.h"

/* The best bound of all three arguments, in ticks. */
yk_status yk_bound_compute(const struct yk_graph *graph, int64_t *out) YK_MUST_USE;

/* The time every cost of the graph is a multiple of, so that some best schedule's length is too. */
int64_t yk_bound_granularity(const struct yk_graph *graph);

#endif
