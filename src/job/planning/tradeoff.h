/* Trade-off job: compares ways to divide memory between resident parameters and prefetched ones,
 * and writes charts and plans. */
#ifndef YK_JOB_PLANNING_TRADEOFF_H
#define YK_JOB_PLANNING_TRADEOFF_H

#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "job/planning/planning_inputs.h"
#include "job/workload.h"
#include "planner/tradeoff.h"

/* Strings that are not given are NULL. */
struct yk_tradeoff_request {
    const struct yk_job_callbacks *job;
    struct yk_planning_inputs_request planning;
    struct yk_workload_request workload;
    bool clip;              /* training clips the gradient norm */
    int64_t points;         /* points of each curve, at least 2 */
    double budget_s;        /* time limit; half of it is for the integer program */
    const char *svg;        /* output file of the chart over splits */
    const char *memory_svg; /* output file of the chart over memory sizes */
    const char *plans;      /* output folder for the plan of each split */
};

/* Starts as {0}. Do not copy or move it: its members point to each other. */
struct yk_tradeoff_result {
    struct yk_planning_inputs planning;
    struct yk_memory_tradeoff *tradeoff;
    struct yk_plan_chart_curve curves[3];
    struct yk_plan_tradeoff_chart charts[2];
    int32_t chart_count; /* charts that have points */
};

yk_status yk_tradeoff_run(const struct yk_tradeoff_request *request,
                          struct yk_tradeoff_result *out) YK_MUST_USE;

/*
 * Writes the charts and the plans. The folder of plans is created if missing. It gets joint.json
 * and one split-NNN.json for every split that fits; NNN is the percentage of memory reserved for
 * scheduling, in three digits (split-012.5.json).
 */
yk_status yk_tradeoff_write_files(const struct yk_tradeoff_request *request,
                                  const struct yk_tradeoff_result *result) YK_MUST_USE;

void yk_tradeoff_result_free(struct yk_tradeoff_result *result);

yk_status yk_tradeoff_result_write_text(const struct yk_tradeoff_result *result,
                                        struct yk_text *out) YK_MUST_USE;
yk_status yk_tradeoff_result_write_json(const struct yk_tradeoff_result *result,
                                        struct yk_text *out) YK_MUST_USE;

#endif
