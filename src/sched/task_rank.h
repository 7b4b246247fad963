/*
 * Task rank: the priority of a task, which is computed from the lengths of the paths through the
 * task; and orders of tasks by priority.
 *
 * All means are multiplied by P, the number of devices, so that ranks are integers. The mean cost
 * of a task is the mean over the devices that can run the task. It is exact if all devices can run
 * the task; otherwise it is rounded.
 */
#ifndef YK_SCHED_TASK_RANK_H
#define YK_SCHED_TASK_RANK_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

/* Returns P times the mean cost of `task` over the devices that can run the task. */
int64_t yk_task_rank_scaled_mean_cost(const struct yk_graph *graph, int32_t task);

/* Returns P times the mean time of the transfer of `edge` between two devices. */
int64_t yk_task_rank_scaled_mean_transfer(const struct yk_graph *graph,
                                          const struct yk_graph_edge *edge);

/* Computes P times rank_u for each task: the length of the longest path from the start of the task
 * to the end of the graph. If `with_input` is true, the transfer of the largest input of each task
 * of the path is added to the length. */
void yk_task_rank_compute_upward(const struct yk_graph *graph, bool with_input, int64_t *out);

/* Computes P times rank_d for each task: the length of the longest path from the beginning of the
 * graph to the start of the task. */
void yk_task_rank_compute_downward(const struct yk_graph *graph, int64_t *out);

/* Computes the topological order in which a list scheduler places the tasks. Of all tasks whose
 * inputs are already in the order, the next one is the task with the highest priority; of equal
 * priorities, the task with the lowest number. Temporary memory is allocated in the arena. */
yk_status yk_task_rank_order_by_priority(const struct yk_graph *graph, const int64_t *priorities,
                                         struct yk_arena *arena, int32_t *out) YK_MUST_USE;

/* Computes a depth-first topological order. Of all tasks whose inputs are already in the order, the
 * next one is the task that became ready last. So data is used soon after it is produced, which
 * saves memory. */
yk_status yk_task_rank_order_depth_first(const struct yk_graph *graph, struct yk_arena *arena,
                                         int32_t *out) YK_MUST_USE;

#endif
