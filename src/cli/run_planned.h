/* Run planned: what the plan of a run says of its ranks. */
#ifndef YK_CLI_RUN_PLANNED_H
#define YK_CLI_RUN_PLANNED_H

#include "planner/planned.h"
#include "report/run_summary.h"

/* Fills in what is not known yet of rank `number`: its device, share, limit, and what is predicted
 * of it. Names stay those of the plan's cluster. */
void yk_run_planned_complete(const struct yk_planned *planned, int32_t number,
                             struct yk_run_rank *out);

#endif
