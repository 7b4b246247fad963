/* Trade-off plans: the plans behind a trade-off's curve of splits, as files. */
#ifndef YK_CLI_TRADEOFF_PLANS_H
#define YK_CLI_TRADEOFF_PLANS_H

#include "cli/planning.h"
#include "planner/tradeoff.h"

/*
 * Writes into `folder`, which is made where it is missing, split-NNN.json for every split that
 * fits, NNN being the percent that is reserved for scheduling, and joint.json.
 */
yk_status yk_tradeoff_plans_write(const struct yk_planning *planning,
                                  const struct yk_tradeoff *tradeoff,
                                  const char *folder) YK_MUST_USE;

#endif
