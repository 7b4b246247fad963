/*
 * Place job: compares ways to place the layers of a model, and writes what was found.
 *
 * (The planner's own request, with all files opened, is struct yk_placement_request.)
 */
#ifndef YK_JOB_PLANNING_PLACE_JOB_H
#define YK_JOB_PLANNING_PLACE_JOB_H

#include "base/option.h"
#include "job/job.h"
#include "job/outputs.h"
#include "job/planning/place_output.h"
#include "job/planning/planning.h"
#include "job/workload.h"

/* Texts are NULL where they are not given. */
struct yk_place_job_request {
    const struct yk_job *job;
    struct yk_planning_request planning; /* model, cluster and profile */
    struct yk_workload_request workload;
    int64_t micro_batches; /* 0: left open */
    const char *algorithm; /* only this way */
    const char *map;       /* a device_map.json, which is one of the ways then */
    struct yk_job_search search;
    const char *export;                 /* "accelerate": a device_map.json */
    const char *output;                 /* what is exported; NULL: device_map.json */
    struct yk_output_drawings drawings; /* the page compares; the others are of the winner */
};

/* Starts as {0}, and stays where it is. */
struct yk_place_job_result {
    struct yk_planning planning;
    struct yk_placement_request request;
    struct yk_placements *placements;
    struct yk_place_output output; /* all of it, for who writes it */
};

yk_status yk_place_job_run(const struct yk_place_job_request *request,
                           struct yk_place_job_result *out) YK_MUST_USE;

/* Writes the drawings and the map. Fails with YK_ERROR_NO_FIT, and a remedy, where nothing fits. */
yk_status yk_place_job_write_files(const struct yk_place_job_request *request,
                                   const struct yk_place_job_result *result) YK_MUST_USE;

void yk_place_job_result_free(struct yk_place_job_result *result);

/* Choices of the request's `algorithm`. */
bool yk_place_job_algorithm_choices(size_t number, struct yk_choice *out);

#endif
