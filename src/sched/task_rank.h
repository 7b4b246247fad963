/*
 * Task rank: the priority of a task, computed from the lengths of the paths through it, and orders
 * of tasks by priority.
 *
 * All means are multiplied by P, the number of devices. So ranks are exact integers. The mean cost
 * of a task is taken over the devices that can run it; if some cannot, it is rounded.
 */
#ifndef YK_SCHED_TASK_RANK_H
#define YK_SCHED_TASK_RANK_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

/* P times the mean cost of `task` over the devices that can run it. */
int64_t yk_task_rank_mean_cost(const struct yk_graph *graph, int32_t task);

/* P times the mean time of `edge` between two devices. */
int64_t yk_task_rank_mean_transfer(const struct yk_graph *graph, const struct yk_graph_edge *edge);

/* P times rank_u: the length of the longest path from the start of the task to the end. With
 * `with_input`, each task of the path counts with the transfer of its largest input, too. */
void yk_task_rank_upward(const struct yk_graph *graph, bool with_input, int64_t *out);

/* P times rank_d: the length of the longest path from the beginning to the start of the task. */
void yk_task_rank_downward(const struct yk_graph *graph, int64_t *out);

/* Computes the topological order of a list scheduler: the next task is the one with the highest
 * priority of those whose inputs are all in the order already; ties by task number. Scratch memory
 * is allocated in the arena. */
yk_status yk_task_rank_priority_order(const struct yk_graph *graph, const int64_t *priorities,
                                      struct yk_arena *arena, int32_t *out) YK_MUST_USE;

/* Computes a depth-first topological order: the next task is the one that became ready last. Data
 * is used soon after it is produced, which saves memory. */
yk_status yk_task_rank_depth_first_order(const struct yk_graph *graph, struct yk_arena *arena,
                                         int32_t *out) YK_MUST_USE;

#endif
