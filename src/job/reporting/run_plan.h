/* Run plan: the shares, predictions and memory limits that the plan of a run gives its ranks. */
#ifndef YK_JOB_REPORTING_RUN_PLAN_H
#define YK_JOB_REPORTING_RUN_PLAN_H

#include "planner/planner.h"
#include "report/run/summary.h"

/* Samples per step of a rank: the largest share among its groups. (In other groups it may only hold
 * state, with share 0.) */
double yk_run_plan_share(const struct yk_plan *plan, int32_t rank);

/* Sets those members of rank `number` that are not known yet (NULL or NAN): device, share, memory
 * limit, predicted times and memory. The device name points into the plan's cluster. */
void yk_run_plan_complete(const struct yk_planner_outcome *planned, int32_t number,
                          struct yk_run_rank *out);

/*
 * Copies the plan with new `shares` (count), as --rebalance sets them. `*out` is `plan` itself if
 * the shares are unchanged or not valid for this plan; else a copy in the arena.
 */
yk_status yk_run_plan_with_shares(const struct yk_plan *plan, const struct yk_model_config *config,
                                  const double *shares, int32_t count, struct yk_arena *arena,
                                  const struct yk_plan **out) YK_MUST_USE;

#endif
