/*
 * Replay graph: a list of ops as the driver launches it whole.
 *
 * It belongs to the lane that it was made of, and stays until it is destroyed, after its last
 * launch has run.
 */
#ifndef YK_BACKEND_CUDA_GRAPHS_GRAPH_H
#define YK_BACKEND_CUDA_GRAPHS_GRAPH_H

#include "backend/cuda/graphs/list.h"

struct yk_replay_graph;

/* Captures the list, of which nothing runs; NULL where that cannot be, and no trouble is noted. All
 * of it must have run before: nothing may be tuned, and no scratch memory grow. */
struct yk_replay_graph *yk_replay_graph_make(struct yk_backend_lane *lane,
                                             const struct yk_replay_list *list);
void yk_replay_graph_destroy(struct yk_replay_graph *graph);

/* Whether the lane's scratch memory is where it was. */
bool yk_replay_graph_is_current(const struct yk_replay_graph *graph,
                                const struct yk_backend_lane *lane);
bool yk_replay_graph_is_of(const struct yk_replay_graph *graph, const struct yk_replay_list *list);

/* False where nothing was put on the lane; no trouble is noted. */
bool yk_replay_graph_launch(const struct yk_replay_graph *graph, struct yk_backend_lane *lane);

#endif
