/* Plan output: prints a plan and its prediction for `yoke plan` and `yoke simulate`. */
#ifndef YK_JOB_PLANNING_PLAN_OUTPUT_H
#define YK_JOB_PLANNING_PLAN_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "planner/planner.h"

yk_status yk_plan_output_text(const struct yk_planner_outcome *planned,
                              struct yk_text *out) YK_MUST_USE;
yk_status yk_plan_output_json(const struct yk_planner_outcome *planned,
                              struct yk_text *out) YK_MUST_USE;

/* Appends a table with one row per class of ops: the time without interference, the source of that
 * number, and its error. */
yk_status yk_plan_output_times_text(const struct yk_planner_outcome *planned,
                                    struct yk_text *out) YK_MUST_USE;

#endif
