/* Leave one out: what the best plan takes when one of its devices is left out. */
#ifndef YK_PLANNER_SEARCH_LEAVE_ONE_OUT_H
#define YK_PLANNER_SEARCH_LEAVE_ONE_OUT_H

#include "plan/result.h"
#include "planner/search/study.h"

/* One row for each device of the plan; of several that are alike and do the same, one. Within the
 * study's budget: rows that there was no time for are left out. In the arena. */
yk_status yk_leave_one_out_search(struct yk_study *study, const struct yk_plan *plan, double step_s,
                                  struct yk_arena *arena, struct yk_plan_leave_one_out **out,
                                  int32_t *out_count) YK_MUST_USE;

#endif
