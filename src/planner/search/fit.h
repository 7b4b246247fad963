/*
 * Fit: parts of sharded state such that a plan has room on all its ranks. Equal parts travel
 * fastest; where memory is short, ranks with more of it keep more.
 */
#ifndef YK_PLANNER_SEARCH_FIT_H
#define YK_PLANNER_SEARCH_FIT_H

#include "planner/search/trial.h"

/*
 * Tries the plan out, and changes the parts of its groups until it fits or nothing helps; where
 * they are not to be decided they stay. `lean` 0: as equal as memory allows; 1: parts leave equal
 * room on all ranks, so that more can be kept; or between.
 */
yk_status yk_parts_fit(struct yk_study *study, struct yk_plan *plan, double lean,
                       enum yk_trial_effort effort, struct yk_trial *out) YK_MUST_USE;

#endif
