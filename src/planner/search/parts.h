/*
 * Parts: which fraction of sharded state each rank keeps. Equal parts travel fastest, since every
 * round of a ring waits for the largest; where memory is short, ranks with more of it keep more.
 */
#ifndef YK_PLANNER_SEARCH_PARTS_H
#define YK_PLANNER_SEARCH_PARTS_H

#include "planner/search/trial.h"

/*
 * `state_bytes` in all, `room_bytes` (count) for it on each rank. The parts add up to 1 and the
 * largest is as small as can be. When the rooms do not suffice: YK_ERROR_NO_FIT, and `out_parts` is
 * in proportion to the rooms (equal where there is none at all).
 */
yk_status yk_parts_find(int32_t count, double state_bytes, const double *room_bytes,
                        double *out_parts) YK_MUST_USE;

/*
 * Tries the plan out, and changes the parts of its groups until it fits or nothing helps; where
 * they are not to be decided they stay. `room_balance` 0: as equal as memory allows; 1: parts leave
 * equal room on all ranks, so that more can be kept; or between.
 */
yk_status yk_parts_fit(struct yk_study *study, struct yk_plan *plan, double room_balance,
                       enum yk_trial_effort effort, struct yk_trial *out) YK_MUST_USE;

#endif
