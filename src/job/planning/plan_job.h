/*
 * Plan job: searches for a plan, or derives one from a given placement, and writes it.
 *
 * The request names files. The planner's request, struct yk_plan_request, has them opened.
 */
#ifndef YK_JOB_PLANNING_PLAN_JOB_H
#define YK_JOB_PLANNING_PLAN_JOB_H

#include "base/option.h"
#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "job/planning/planning_inputs.h"
#include "job/workload.h"
#include "planner/planner.h"

/* Strings that are not given are NULL. */
struct yk_plan_job_request {
    const struct yk_job_callbacks *job;
    struct yk_planning_inputs_request planning;
    struct yk_workload_request workload;
    int64_t micro_batches; /* 0: the search chooses */
    bool clip;             /* training clips the gradient norm */
    const char *devices;   /* "gpu0,gpu2": use only these devices */
    const char *only;      /* "shares,order": the search decides only these */
    const char *strategy;  /* strategy of all layers, or "random" */
    const char *placement; /* algorithm of planner/placement/placement.h, instead of a search */
    const char *map;       /* a device_map.json, instead of a search */
    struct yk_job_search_request search; /* `moves` counts evaluated plans */
    const char *output;                  /* path of the plan file */
    const char *export;                  /* name of an exporter */
    const char *export_output;           /* path of the export; NULL: the exporter's default name */
};

/* Starts as {0}. Do not copy or move it: its members point to each other. */
struct yk_plan_job_result {
    struct yk_planning_inputs planning;
    struct yk_planner_outcome *planned; /* planned->plan is NULL if no plan fits */
};

yk_status yk_plan_job_run(const struct yk_plan_job_request *request,
                          struct yk_plan_job_result *out) YK_MUST_USE;

/* Writes the plan and its export. Fails with YK_ERROR_NO_FIT if no plan fits. */
yk_status yk_plan_job_write_files(const struct yk_plan_job_request *request,
                                  const struct yk_plan_job_result *result) YK_MUST_USE;

void yk_plan_job_result_free(struct yk_plan_job_result *result);

/* Choices for `strategy`, `placement` and `export`. */
bool yk_plan_job_strategy_choices(size_t number, struct yk_option_choice *out);
bool yk_plan_job_placement_choices(size_t number, struct yk_option_choice *out);
bool yk_plan_job_export_choices(size_t number, struct yk_option_choice *out);

/* Append a plan and its prediction: the output of `yoke plan` and `yoke simulate`. */
yk_status yk_plan_output_write_text(const struct yk_planner_outcome *planned,
                                    struct yk_text *out) YK_MUST_USE;
yk_status yk_plan_output_write_json(const struct yk_planner_outcome *planned,
                                    struct yk_text *out) YK_MUST_USE;

/* Appends a table with one row per class of ops: the time without interference, the source of that
 * number, and its error. */
yk_status yk_plan_output_write_op_times_text(const struct yk_planner_outcome *planned,
                                             struct yk_text *out) YK_MUST_USE;

#endif
