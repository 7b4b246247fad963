/*
 * Shard fractions: the fraction of sharded state that each rank stores. Equal fractions communicate
 * fastest, since every round of a ring waits for the largest. If memory is short, ranks with more
 * memory store more.
 */
#ifndef YK_PLANNER_SEARCH_PARTS_H
#define YK_PLANNER_SEARCH_PARTS_H

#include "planner/search/trial.h"

/*
 * Divides `state_bytes` over ranks with `room_bytes` (count) of free memory, so that the largest
 * fraction is minimal. The fractions add up to 1. YK_ERROR_NO_FIT if the free memory does not
 * suffice; then the fractions are proportional to it, or equal if there is none.
 */
yk_status yk_parts_find(int32_t count, double state_bytes, const double *room_bytes,
                        double *out_parts) YK_MUST_USE;

/*
 * Evaluates the plan, and changes its shard fractions until it fits or no change helps. They stay
 * the same if the search does not decide them. `room_balance` 0 means: as equal as memory allows; 1
 * means: equal free memory on all ranks, so that more layers can be kept; or a value between.
 */
yk_status yk_parts_fit(struct yk_study *study, struct yk_plan *plan, double room_balance,
                       enum yk_trial_effort effort, struct yk_trial *out) YK_MUST_USE;

#endif
