/* Paths: lower bounds of the time before and after each task. */
#ifndef YK_SCHED_BOUND_PATHS_H
#define YK_SCHED_BOUND_PATHS_H

#include "base/arena.h"
#include "graph/graph.h"

struct yk_bound_paths {
    int64_t *finish; /* (n, P) earliest end of the task on that device; or NEVER */
    int64_t *rest;   /* (n, P) least time from that end to the end of any schedule */
};

/* The paths of all tasks; memory is the arena's. */
yk_status yk_bound_paths_find(const struct yk_graph *graph, struct yk_arena *arena,
                              struct yk_bound_paths *out) YK_MUST_USE;

#endif
