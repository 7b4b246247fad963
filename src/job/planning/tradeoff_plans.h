/* Trade-off plans: the plans behind a trade-off's curve of splits, as files. */
#ifndef YK_JOB_PLANNING_TRADEOFF_PLANS_H
#define YK_JOB_PLANNING_TRADEOFF_PLANS_H

#include "job/planning.h"
#include "planner/tradeoff.h"

enum {
    YK_TRADEOFF_PERCENT_SIZE = sizeof "100.0"
};

/* The part that is reserved for scheduling, in percent, with at least `digits` before the point:
 * whole where all points of the curve are, else with the one decimal that tells them apart. */
void yk_tradeoff_percent(const struct yk_tradeoff *tradeoff, double part, int digits,
                         char out[YK_TRADEOFF_PERCENT_SIZE]);

/*
 * Writes into `folder`, which is made where it is missing, split-NNN.json for every split that is
 * there and fits, NNN being that percent in three digits (split-012.5.json), and joint.json.
 */
yk_status yk_tradeoff_plans_write(const struct yk_planning *planning,
                                  const struct yk_tradeoff *tradeoff,
                                  const char *folder) YK_MUST_USE;

#endif
