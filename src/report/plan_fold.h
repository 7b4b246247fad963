/*
 * Fold: ranks that do the same, at the same times and with the same memory, are one row of every
 * picture and table of a plan.
 *
 * Folds live in the arena they were made in, and point into the result they were made of.
 */
#ifndef YK_REPORT_PLAN_FOLD_H
#define YK_REPORT_PLAN_FOLD_H

#include "base/arena.h"
#include "plan/result.h"
#include "trace/trace.h"

struct yk_plan_lane {
    const char *name;                           /* what stands beside it: "compute" */
    const struct yk_trace_event *const *events; /* by start, then by end */
    int32_t count;
};

struct yk_plan_fold {
    int32_t rank; /* the first, which stands for the others */
    int32_t count;
    const char *name;    /* "gpu1 rtx3090", or "a100 ×32" of several */
    const char *numbers; /* of the ranks: "2", "0 to 31, 40" */
    struct yk_plan_lane lanes[YK_LANE_COUNT];
};

struct yk_plan_folds {
    const struct yk_plan_result *result;
    const struct yk_plan_fold *folds; /* by rank */
    int32_t count;
    double span_s; /* from 0 to the end of the step, or of its last event if that is later */
};

yk_status yk_plan_folds_make(const struct yk_plan_result *result, struct yk_arena *arena,
                             struct yk_plan_folds *out) YK_MUST_USE;

/* The lanes of the first `rank_count` ranks of a trace, (ranks, lanes), in the arena; `out_end_s`
 * is the end of the last event in them. */
yk_status yk_plan_lanes_make(const struct yk_trace *trace, int32_t rank_count,
                             struct yk_arena *arena, const struct yk_plan_lane **out,
                             double *out_end_s) YK_MUST_USE;

/* "gpu1 rtx3090": what it is called, and its type unless that says the same. */
yk_status yk_plan_device_name(const struct yk_device *device, struct yk_arena *arena,
                              const char **out) YK_MUST_USE;

/* The member of `group` that is `rank`, or NULL. */
const struct yk_plan_member *yk_plan_member_of(const struct yk_plan *plan, int32_t group,
                                               int32_t rank);

static inline const struct yk_device *yk_plan_device_of(const struct yk_plan_result *result,
                                                        int32_t rank)
{
    return &result->cluster->devices[result->plan->ranks[rank].device];
}

#endif
