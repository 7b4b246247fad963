/*
 * Placement job: compares algorithms that place the layers of a model on devices.
 *
 * The request contains the paths of files. The job opens these files and puts them into struct
 * yk_placement_request, the request of the planner.
 */
#ifndef YK_JOB_PLANNING_PLACEMENT_JOB_H
#define YK_JOB_PLANNING_PLACEMENT_JOB_H

#include "base/option.h"
#include "job/job.h"
#include "job/output_files.h"
#include "job/planning/planning_inputs.h"
#include "job/workload.h"
#include "planner/placement/placement.h"

/* A string that is not given is NULL. */
struct yk_placement_job_request {
    const struct yk_job_callbacks *job;
    struct yk_planning_inputs_request planning; /* model, cluster and profile */
    struct yk_workload_request workload;
    int64_t micro_batches; /* 0 means: the search chooses the number */
    const char *algorithm; /* run only this algorithm; NULL means: all */
    const char *map;       /* path of a device_map.json to compare with the algorithms */
    struct yk_job_search_options search;
    const char *export; /* "accelerate" means: export a device_map.json */
    const char *output; /* path of the export; NULL means: device_map.json */
    /* drawings.html compares all placements; drawings.svg and drawings.trace show the fastest. */
    struct yk_schedule_drawing_paths drawings;
};

/* The placements that are compared, and the request for which they were made. */
struct yk_placement_comparison {
    const struct yk_placement_request *request;
    const struct yk_placements *placements;
    const struct yk_placement *shown; /* fastest placement that fits; NULL means: none fits */
};

/* Starts as {0}. Do not copy or move the struct: its members point to each other. */
struct yk_placement_job_result {
    struct yk_planning_inputs planning;
    struct yk_placement_request request;
    struct yk_placements *placements;
    struct yk_placement_comparison output;
};

yk_status yk_placement_job_run(const struct yk_placement_job_request *request,
                               struct yk_placement_job_result *out) YK_MUST_USE;

/* Writes the drawings and the device map. If no placement fits into memory, fails with
 * YK_ERROR_NO_FIT. The message says what would make the model fit. */
yk_status yk_placement_job_write_files(const struct yk_placement_job_request *request,
                                       const struct yk_placement_job_result *result) YK_MUST_USE;

void yk_placement_job_result_free(struct yk_placement_job_result *result);

/* Lists the choices for `algorithm`. Sets `out` to choice `number`, or returns false if
 * `number` is too large. */
bool yk_placement_job_algorithm_choice_at(size_t number, struct yk_option_choice *out);

/* The three functions below append the comparison as text, as JSON, or as an HTML page. */
yk_status yk_placement_comparison_write_text(const struct yk_placement_comparison *output,
                                             struct yk_text *out) YK_MUST_USE;
yk_status yk_placement_comparison_write_json(const struct yk_placement_comparison *output,
                                             struct yk_text *out) YK_MUST_USE;
yk_status yk_placement_comparison_write_page(const struct yk_placement_comparison *output,
                                             struct yk_text *out) YK_MUST_USE;

/* Describes why a placement does not fit into memory ("gpu1 lacks 3.1GiB"), or why the algorithm
 * found no placement. Returns NULL if the placement fits. The returned string may point into `out`.
 */
const char *yk_placement_comparison_misfit_reason(const struct yk_placement_comparison *output,
                                                  const struct yk_placement *placement,
                                                  struct yk_text *out);

#endif
