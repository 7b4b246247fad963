/* The work and window arguments of bound.h. Private to this room. */
#ifndef YK_SCHED_BOUND_WORK_H
#define YK_SCHED_BOUND_WORK_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

#include <stdint.h>

/* What surely lies before a task's start and after its end, in ticks. */
struct yk_bound_window {
    int64_t before;
    int64_t after;
    int32_t task;
};

/* The bound by work, for all tasks and for those of every window; sorts `windows`. */
yk_status yk_bound_work_find(const struct yk_graph *graph, struct yk_arena *arena,
                             struct yk_bound_window *windows, int64_t *out) YK_MUST_USE;

#endif
