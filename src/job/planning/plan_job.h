/*
 * Plan job: searches for a plan, or makes a plan from a given placement, and writes the plan.
 *
 * The request contains the paths of files. The job opens these files and puts them into struct
 * yk_plan_request, the request of the planner.
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

/* A string that is not given is NULL. */
struct yk_plan_job_request {
    const struct yk_job_callbacks *job;
    struct yk_planning_inputs_request planning;
    struct yk_workload_request workload;
    int64_t micro_batches; /* 0 means: the search chooses the number */
    bool clip;             /* training clips the gradient norm */
    const char *devices;   /* such as "gpu0,gpu2": use only these devices */
    const char *only; /* such as "shares,order": the search decides only these parts of the plan */
    const char *strategy;  /* sharding strategy of all layers, or "random" */
    const char *placement; /* placement algorithm (planner/placement/), which replaces the search */
    const char *map;       /* path of a device_map.json that replaces the search */
    struct yk_job_search_options search; /* search.moves limits the number of evaluated plans */
    const char *output;                  /* path of the plan file */
    const char *export;                  /* name of the exporter */
    const char *export_output; /* path of the export; NULL means: the exporter's default name */
};

/* Starts as {0}. Do not copy or move the struct: its members point to each other. */
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

/* The three functions below list the choices for `strategy`, `placement` and `export`. They set
 * `out` to choice `number`, or return false if `number` is too large. */
bool yk_plan_job_strategy_choice_at(size_t number, struct yk_option_choice *out);
bool yk_plan_job_placement_choice_at(size_t number, struct yk_option_choice *out);
bool yk_plan_job_export_choice_at(size_t number, struct yk_option_choice *out);

/* The two functions below append a plan and its predicted time and memory. `yoke plan` and
 * `yoke simulate` print this. */
yk_status yk_plan_output_write_text(const struct yk_planner_outcome *planned,
                                    struct yk_text *out) YK_MUST_USE;
yk_status yk_plan_output_write_json(const struct yk_planner_outcome *planned,
                                    struct yk_text *out) YK_MUST_USE;

/* Appends a table with one row for each class of ops. A row contains the time of one op while
 * nothing else runs, the source of this time (measured, datasheet …), and its error. */
yk_status yk_plan_output_write_op_times_text(const struct yk_planner_outcome *planned,
                                             struct yk_text *out) YK_MUST_USE;

/* ---- simulate: predicts the time and the memory of a training step of a plan file ---- */

struct yk_simulate_request {
    const char *plan; /* path of the plan file */
    /* Inputs that replace the inputs that the plan file names. */
    struct yk_planning_inputs_request planning;
    bool program;      /* print the ops of each rank (program/program.h) instead of the summary */
    bool times;        /* after the summary, also print the times of ops */
    const char *trace; /* path of the trace to write; NULL means: none */
};

/* Starts as {0}. Do not copy or move the struct: its members point to each other. */
struct yk_simulate_result {
    struct yk_planning_inputs planning;
    struct yk_planner_outcome *planned;
};

yk_status yk_simulate_run(const struct yk_simulate_request *request,
                          struct yk_simulate_result *out) YK_MUST_USE;

yk_status yk_simulate_write_text(const struct yk_simulate_request *request,
                                 const struct yk_simulate_result *result,
                                 struct yk_text *out) YK_MUST_USE;

/* Writes the trace. Fails with YK_ERROR_NO_FIT if the plan does not fit into memory. */
yk_status yk_simulate_write_files(const struct yk_simulate_request *request,
                                  const struct yk_simulate_result *result) YK_MUST_USE;

void yk_simulate_result_free(struct yk_simulate_result *result);

#endif
