/*
 * Task rank: how urgent each task is, by the lengths of the paths through it.
 *
 * Mean costs are sums over the devices, that is P times the mean, so that equal ranks are equal
 * whole numbers. Where some devices cannot run a task, the mean is over those that can, rounded.
 */
#ifndef YK_SCHED_TASK_RANK_H
#define YK_SCHED_TASK_RANK_H

#include "base/status.h"
#include "graph/graph.h"

/* P times the mean cost of `task` over the devices that can run it. */
int64_t yk_task_rank_cost(const struct yk_graph *graph, int32_t task);

/* P times the mean time of `edge` between two devices. */
int64_t yk_task_rank_transfer(const struct yk_graph *graph, const struct yk_graph_edge *edge);

/* P times rank_u: the longest path from the task's start to the end, its own cost included. */
void yk_task_rank_upward(const struct yk_graph *graph, int64_t *out);

/* P times rank_d: the longest path from the beginning to the task's start. */
void yk_task_rank_downward(const struct yk_graph *graph, int64_t *out);

/*
 * The tasks in the order a list scheduler takes them: always the one with the highest priority
 * among those whose inputs have all been taken; ties by task number.
 */
yk_status yk_task_rank_order(const struct yk_graph *graph, const int64_t *priorities,
                             int32_t *out) YK_MUST_USE;

/*
 * The tasks in an order that goes deep first: always the one whose inputs were completed last,
 * which tends to use data soon after it was made and so to hold little of it.
 */
yk_status yk_task_rank_depth_first(const struct yk_graph *graph, int32_t *out) YK_MUST_USE;

#endif
