/* Planned facts: figures and sentences about a plan that follow from what is known of it. */
#ifndef YK_PLANNER_PLANNED_FACTS_H
#define YK_PLANNER_PLANNED_FACTS_H

#include "planner/planner.h"

/* Model FLOPS utilisation, 0 to 1: what yk_model_flops() counts over the sum of the devices' dense
 * peaks. */
struct yk_mfu {
    double formula;
    double exact;
};

/* In the predicted step. */
struct yk_mfu yk_planner_mfu(const struct yk_planner_outcome *planned);

/* Where the plan trains on so many tokens a second; of an encoder–decoder, those of both sides. */
struct yk_mfu yk_planner_mfu_at(const struct yk_planner_outcome *planned, double tokens_per_s);

/* The rank's share and part in the first group it is in; NULL when it is in none. */
const struct yk_plan_member *yk_planner_member(const struct yk_plan *plan, int32_t rank);

/* Fails with the device, what it lacks and the remedy, when no plan was found. */
yk_status yk_planner_fail_unfound(const struct yk_planner_outcome *planned) YK_MUST_USE;

/* Fails with the device and what it lacks, when the plan that was examined does not fit. */
yk_status yk_planner_fail_unfit(const struct yk_planner_outcome *planned) YK_MUST_USE;

#endif
