/* Schedule: places the tasks of a graph on devices, by one scheduler or by each of them. */
#ifndef YK_JOB_PLANNING_SCHEDULE_H
#define YK_JOB_PLANNING_SCHEDULE_H

#include "base/option.h"
#include "job/job.h"
#include "job/planning/comparison.h"
#include "job/planning/drawings.h"
#include "job/search.h"

/* Texts are NULL where they are not given. */
struct yk_schedule_request {
    const struct yk_job *job;
    const char *file;      /* "-": standard input */
    bool example;          /* the graph that yoke brings along, instead of a file */
    const char *algorithm; /* a scheduler, or "all" */
    const char *map;       /* a file that says where each task runs, instead of a scheduler */
    int64_t devices;       /* 0: as the file says; the same of the next three */
    struct yk_option_list speeds;
    double bandwidth_bytes_per_s;
    double latency_s;
    struct yk_job_search search;
    struct yk_output_drawings drawings;
};

/* Starts as {0}. */
struct yk_schedule_result {
    struct yk_graph *graph;
    struct yk_schedule_comparison
        comparison;                   /* without rows unless all schedulers were asked for */
    struct yk_schedule *schedule;     /* NULL: it is the comparison's */
    struct yk_schedule_report report; /* of the schedule, or of the best */
};

yk_status yk_schedule_run(const struct yk_schedule_request *request,
                          struct yk_schedule_result *out) YK_MUST_USE;

yk_status yk_schedule_write_files(const struct yk_schedule_request *request,
                                  const struct yk_schedule_result *result) YK_MUST_USE;

void yk_schedule_result_free(struct yk_schedule_result *result);

/* Choices of the request's `algorithm`. */
bool yk_schedule_algorithm_choices(size_t number, struct yk_choice *out);

#endif
