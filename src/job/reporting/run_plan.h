/* Run planned: what the plan of a run says of its ranks. */
#ifndef YK_JOB_REPORTING_RUN_PLAN_H
#define YK_JOB_REPORTING_RUN_PLAN_H

#include "planner/planner.h"
#include "report/run/summary.h"

/* A rank's samples in a step: of the groups that it is in, one may only keep state. */
double yk_run_plan_share(const struct yk_plan *plan, int32_t rank);

/* Fills in what is not known yet of rank `number`: its device, share, limit, and what is predicted
 * of it. Names stay those of the plan's cluster. */
void yk_run_plan_complete(const struct yk_planner_outcome *planned, int32_t number,
                          struct yk_run_rank *out);

/*
 * The plan with `shares` (count) of the batch for its ranks, as --rebalance leaves them. `*out` is
 * `plan` itself where they are the plan's, or are none that the plan could have. In the arena.
 */
yk_status yk_run_plan_with_shares(const struct yk_plan *plan, const struct yk_model_config *config,
                                  const double *shares, int32_t count, struct yk_arena *arena,
                                  const struct yk_plan **out) YK_MUST_USE;

#endif
