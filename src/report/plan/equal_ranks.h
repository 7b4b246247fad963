/*
 * Equal ranks: ranks that run the same ops at the same times with the same memory. Every picture
 * and table of a plan shows one row for a set of equal ranks.
 *
 * The sets live in the arena that yk_equal_ranks_find() gets, and point into its result.
 */
#ifndef YK_REPORT_PLAN_EQUAL_RANKS_H
#define YK_REPORT_PLAN_EQUAL_RANKS_H

#include "base/arena.h"
#include "plan/plan_result.h"
#include "report/time_chart.h"

/* One set. */
struct yk_equal_ranks_set {
    int32_t rank;        /* the lowest rank of the set; its figures are shown */
    int32_t count;       /* ranks in the set */
    const char *name;    /* "gpu1 rtx3090", or for several ranks "a100 ×32" */
    const char *numbers; /* all ranks of the set: "2", "0 to 31, 40" */
    struct yk_time_chart_row lanes[YK_LANE_COUNT];
};

/* All sets of a plan, the subject of its charts. */
struct yk_equal_ranks_sets {
    const struct yk_plan_result *result;
    const struct yk_equal_ranks_set *all; /* sorted by rank */
    int32_t count;
    double span_s; /* length of the step, or the end of the last event if that is later */
    struct yk_time_chart chart; /* one group of rows for every set */
};

yk_status yk_equal_ranks_find(const struct yk_plan_result *result, struct yk_arena *arena,
                              struct yk_equal_ranks_sets *out) YK_MUST_USE;

/* Adds the ranks r with set_of[r] == set as ranges: "0 to 31, 40". */
void yk_equal_ranks_add_ranges(const int32_t *set_of, int32_t ranks, int32_t set,
                               struct yk_text *out);

/* The device's name and type, "gpu1 rtx3090"; the name alone if it contains the type. For `count`
 * devices like this one, "a100 ×32". */
yk_status yk_equal_ranks_device_name(const struct yk_device *device, int32_t count,
                                     struct yk_arena *arena, const char **out) YK_MUST_USE;

/* The member of group `group` that is `rank`; NULL if the rank is not in the group. */
const struct yk_plan_group_member *yk_equal_ranks_find_member(const struct yk_plan *plan,
                                                              int32_t group, int32_t rank);

static inline const struct yk_device *yk_equal_ranks_device(const struct yk_plan_result *result,
                                                            int32_t rank)
{
    return &result->cluster->devices[result->plan->ranks[rank].device];
}

#endif
