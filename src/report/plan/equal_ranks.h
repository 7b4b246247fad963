/*
 * Equal ranks: sets of ranks that have the same shares and run the same ops at the same times with
 * the same memory, on devices of the same type. Pictures and tables of ranks show one row for each
 * set.
 *
 * yk_equal_ranks_find_sets() allocates the sets in the caller's arena. They point into the plan
 * result, which must outlive them.
 */
#ifndef YK_REPORT_PLAN_EQUAL_RANKS_H
#define YK_REPORT_PLAN_EQUAL_RANKS_H

#include "base/arena.h"
#include "plan/plan_result.h"
#include "report/time_chart.h"

/* One set of equal ranks. */
struct yk_equal_ranks_set {
    int32_t rank;        /* the lowest rank of the set; pictures and tables show its numbers */
    int32_t count;       /* number of ranks in the set */
    const char *name;    /* "gpu1 rtx3090", or "a100 ×32" for several ranks */
    const char *numbers; /* numbers of all ranks of the set: "2", "0 to 31, 40" */
    struct yk_time_chart_row lanes[YK_LANE_COUNT];
};

/* All sets of a plan. This is the subject of the plan's charts (chart.h). */
struct yk_equal_ranks_sets {
    const struct yk_plan_result *result;
    struct yk_arena *arena;               /* owns the sets; charts allocate from it, too */
    const struct yk_equal_ranks_set *all; /* sorted by rank */
    int32_t count;
    double span_s; /* length of the step, or the end of the last event if the event ends after the
                      step */
    struct yk_time_chart chart; /* one group of rows for every set */
};

yk_status yk_equal_ranks_find_sets(const struct yk_plan_result *result, struct yk_arena *arena,
                                   struct yk_equal_ranks_sets *out) YK_MUST_USE;

/* Adds the numbers of all ranks r with set_of[r] == set, as ranges: "0 to 31, 40". `ranks` is the
 * number of ranks. */
void yk_equal_ranks_write_rank_ranges(const int32_t *set_of, int32_t ranks, int32_t set,
                                      struct yk_text *out);

/* Returns the name and the type of a device, "gpu1 rtx3090", or only the name if it contains the
 * type. If `count` is more than 1, returns a text for that many devices of this type: "a100 ×32".
 */
yk_status yk_equal_ranks_make_device_label(const struct yk_device *device, int32_t count,
                                           struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Returns the entry of the rank in the members of the group, or NULL if the rank is not in the
 * group. `group` is an index in the plan's groups. */
const struct yk_plan_group_member *yk_equal_ranks_find_group_member(const struct yk_plan *plan,
                                                                    int32_t group, int32_t rank);

static inline const struct yk_device *
yk_equal_ranks_device_of_rank(const struct yk_plan_result *result, int32_t rank)
{
    return &result->cluster->devices[result->plan->ranks[rank].device];
}

#endif
