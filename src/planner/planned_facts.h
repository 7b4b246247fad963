/* Planned facts: figures and sentences about a plan that follow from what is known of it. */
#ifndef YK_PLANNER_PLANNED_FACTS_H
#define YK_PLANNER_PLANNED_FACTS_H

#include "planner/planned.h"

/* Model FLOPS utilisation, 0 to 1: what yk_model_flops() counts over the sum of the devices' dense
 * peaks. */
struct yk_mfu {
    double formula;
    double exact;
};

/* In the predicted step. */
struct yk_mfu yk_planned_mfu(const struct yk_planned *planned);

/* Where the plan trains on so many tokens a second; of an encoder–decoder, those of both sides. */
struct yk_mfu yk_planned_mfu_at(const struct yk_planned *planned, double tokens_per_s);

/* The rank's share and part in the first group it is in; NULL when it is in none. */
const struct yk_plan_member *yk_planned_member(const struct yk_plan *plan, int32_t rank);

/* Fails with the device, what it lacks and the remedy, when no plan was found. */
yk_status yk_planned_fail_unfound(const struct yk_planned *planned) YK_MUST_USE;

/* Fails with the device and what it lacks, when the plan that was examined does not fit. */
yk_status yk_planned_fail_unfit(const struct yk_planned *planned) YK_MUST_USE;

#endif
