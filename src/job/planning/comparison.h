/*
 * Comparison: every scheduler on one graph, and the best of their schedules.
 *
 * A comparison is a plain struct that starts as {0} and is freed by yk_schedule_comparison_free();
 * it owns its rows and the best schedule. One thread at a time.
 */
#ifndef YK_JOB_PLANNING_COMPARISON_H
#define YK_JOB_PLANNING_COMPARISON_H

#include "base/status.h"
#include "base/text.h"
#include "graph/graph.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"

#include <stddef.h>
#include <stdint.h>

struct yk_schedule_comparison_row {
    const struct yk_scheduler *scheduler;
    struct yk_text why; /* why there is no schedule; empty when there is one */
    int64_t makespan;   /* ticks */
    double seconds;     /* how long the scheduler took */
};

struct yk_schedule_comparison {
    const struct yk_graph *graph;
    struct yk_schedule_comparison_row *rows;
    size_t count;
    const struct yk_scheduler *best; /* the first with the shortest schedule */
    struct yk_schedule *schedule;    /* its schedule */
    int64_t lower_bound;             /* the largest that anyone proved */
};

/* Runs them all. A scheduler that finds no schedule gets a row that says why; it is a failure of
 * the whole only when none finds one, or when the machine itself fails. */
yk_status yk_schedule_comparison_run(const struct yk_graph *graph,
                                     const struct yk_scheduler_options *options,
                                     struct yk_schedule_comparison *out) YK_MUST_USE;
void yk_schedule_comparison_free(struct yk_schedule_comparison *comparison);

yk_status yk_schedule_comparison_write_text(const struct yk_schedule_comparison *comparison,
                                            const char *source, struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_comparison_write_json(const struct yk_schedule_comparison *comparison,
                                            struct yk_text *out) YK_MUST_USE;

#endif
