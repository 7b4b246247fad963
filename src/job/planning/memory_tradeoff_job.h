/*
 * Memory trade-off job: free memory can keep parameters from the forward pass to the backward pass,
 * or hold parameters that are gathered before they are needed. The job compares ways to divide the
 * free memory between these two uses (planner/memory_tradeoff.h), and writes charts and plans.
 */
#ifndef YK_JOB_PLANNING_MEMORY_TRADEOFF_JOB_H
#define YK_JOB_PLANNING_MEMORY_TRADEOFF_JOB_H

#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "job/planning/planning_inputs.h"
#include "job/workload.h"
#include "planner/memory_tradeoff.h"

/* A string that is not given is NULL. */
struct yk_memory_tradeoff_job_request {
    const struct yk_job_callbacks *job;
    struct yk_planning_inputs_request planning;
    struct yk_workload_request workload;
    bool clip;              /* training clips the gradient norm */
    int64_t points;         /* number of points of each curve, at least 2 */
    double budget_s;        /* time limit; an integer program gets at most half of what is left */
    const char *svg;        /* path of the chart of step times over the split of memory */
    const char *memory_svg; /* path of the chart of step times over the memory size */
    const char *plans;      /* path of the folder for the plans */
};

/* Starts as {0}. Do not copy or move the struct: its members point to each other. */
struct yk_memory_tradeoff_job_result {
    struct yk_planning_inputs planning;
    struct yk_memory_tradeoff *tradeoff;
    struct yk_plan_chart_curve curves[3];
    struct yk_plan_tradeoff_chart charts[2];
    int32_t chart_count; /* number of charts that have points */
};

yk_status yk_memory_tradeoff_job_run(const struct yk_memory_tradeoff_job_request *request,
                                     struct yk_memory_tradeoff_job_result *out) YK_MUST_USE;

/*
 * Writes the charts and the plans. Creates the folder of the plans if it does not exist. The folder
 * gets joint.json, which is the plan without a fixed split, and a file split-NNN.json for every
 * split for which a plan fits into memory. NNN is the percentage of memory that is reserved for
 * scheduling (planner/memory_tradeoff.h), with three digits before the decimal point
 * (split-012.5.json).
 */
yk_status
yk_memory_tradeoff_job_write_files(const struct yk_memory_tradeoff_job_request *request,
                                   const struct yk_memory_tradeoff_job_result *result) YK_MUST_USE;

void yk_memory_tradeoff_job_result_free(struct yk_memory_tradeoff_job_result *result);

yk_status yk_memory_tradeoff_job_write_text(const struct yk_memory_tradeoff_job_result *result,
                                            struct yk_text *out) YK_MUST_USE;
yk_status yk_memory_tradeoff_job_write_json(const struct yk_memory_tradeoff_job_result *result,
                                            struct yk_text *out) YK_MUST_USE;

#endif
