/*
 * Equal ranks: ranks that do the same, at the same times and with the same memory, are one row of
 * every picture and table of a plan. Sets of them live in the arena they were made in, and point
 * into the result they were made of.
 */
#ifndef YK_REPORT_PLAN_EQUAL_RANKS_H
#define YK_REPORT_PLAN_EQUAL_RANKS_H

#include "base/arena.h"
#include "plan/result.h"
#include "report/lanes.h"

struct yk_equal_ranks {
    int32_t rank; /* the first, which stands for the others */
    int32_t count;
    const char *name;    /* "gpu1 rtx3090", or "a100 ×32" of several */
    const char *numbers; /* of the ranks: "2", "0 to 31, 40" */
    struct yk_lanes_row lanes[YK_LANE_COUNT];
};

struct yk_equal_ranks_sets {
    const struct yk_plan_result *result;
    const struct yk_equal_ranks *all; /* by rank */
    int32_t count;
    double span_s; /* from 0 to the end of the step, or of its last event if that is later */
    struct yk_lanes lanes; /* the rows of every set */
};

yk_status yk_equal_ranks_find(const struct yk_plan_result *result, struct yk_arena *arena,
                              struct yk_equal_ranks_sets *out) YK_MUST_USE;

/* "gpu1 rtx3090": what it is called, and its type unless that says the same. */
yk_status yk_equal_ranks_device_name(const struct yk_device *device, struct yk_arena *arena,
                                     const char **out) YK_MUST_USE;

/* The member of `group` that is `rank`, or NULL. */
const struct yk_plan_member *yk_equal_ranks_member(const struct yk_plan *plan, int32_t group,
                                                   int32_t rank);

static inline const struct yk_device *yk_equal_ranks_device(const struct yk_plan_result *result,
                                                            int32_t rank)
{
    return &result->cluster->devices[result->plan->ranks[rank].device];
}

#endif
