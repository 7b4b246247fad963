/*
 * Plan job: searches for a plan, or follows a placement, and writes it.
 *
 * (The planner's own request, with all files opened, is struct yk_plan_request.)
 */
#ifndef YK_JOB_PLANNING_PLAN_JOB_H
#define YK_JOB_PLANNING_PLAN_JOB_H

#include "base/option.h"
#include "job/job.h"
#include "job/planning/planning.h"
#include "job/workload.h"
#include "planner/planner.h"

/* Texts are NULL where they are not given. */
struct yk_plan_job_request {
    const struct yk_job *job;
    struct yk_planning_request planning;
    struct yk_workload_request workload;
    int64_t micro_batches; /* 0: the search chooses */
    bool clip;
    const char *devices;         /* "gpu0,gpu2": no others */
    const char *only;            /* "shares,order": decides no more than that */
    const char *strategy;        /* of all layers, or "random" */
    const char *placement;       /* a method of planner/placement/placement.h; no search then */
    const char *map;             /* a device_map.json, instead of a search */
    struct yk_job_search search; /* its moves are plans looked at */
    const char *output;          /* the plan file */
    const char *export;          /* name of an exporter */
    const char *export_output;   /* NULL: a name that suits the form */
};

/* Starts as {0}, and stays where it is. */
struct yk_plan_job_result {
    struct yk_planning planning;
    struct yk_planner_outcome *planned; /* without a plan where nothing fits */
};

yk_status yk_plan_job_run(const struct yk_plan_job_request *request,
                          struct yk_plan_job_result *out) YK_MUST_USE;

/* Writes the plan and its export. Fails with YK_ERROR_NO_FIT where there is no plan that fits. */
yk_status yk_plan_job_write_files(const struct yk_plan_job_request *request,
                                  const struct yk_plan_job_result *result) YK_MUST_USE;

void yk_plan_job_result_free(struct yk_plan_job_result *result);

/* Choices of the request's `strategy`, `placement` and `export`. */
bool yk_plan_job_strategy_choices(size_t number, struct yk_choice *out);
bool yk_plan_job_placement_choices(size_t number, struct yk_choice *out);
bool yk_plan_job_export_choices(size_t number, struct yk_choice *out);

#endif
