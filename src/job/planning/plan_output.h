/* Plan output: what `yoke plan` and `yoke simulate` print about a plan. */
#ifndef YK_JOB_PLANNING_PLAN_OUTPUT_H
#define YK_JOB_PLANNING_PLAN_OUTPUT_H

#include "base/json_write.h"
#include "base/status.h"
#include "base/text.h"
#include "planner/planner.h"

yk_status yk_plan_output_text(const struct yk_planner_outcome *planned,
                              struct yk_text *out) YK_MUST_USE;
yk_status yk_plan_output_json(const struct yk_planner_outcome *planned,
                              struct yk_text *out) YK_MUST_USE;

/* A row for each sort of op: how long it takes alone, where that comes from, how far off it may
 * be. */
yk_status yk_plan_output_times_text(const struct yk_planner_outcome *planned,
                                    struct yk_text *out) YK_MUST_USE;

/* "times":[{"op":"forward", …}]: the same, as a member of the object that is being written. */
yk_status yk_plan_output_times_json(const struct yk_planner_outcome *planned,
                                    struct yk_json_writer *json) YK_MUST_USE;

#endif
