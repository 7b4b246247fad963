/* Schedule: places the tasks of a graph on devices, by one scheduler or by each of them. */
#ifndef YK_JOB_PLANNING_SCHEDULE_H
#define YK_JOB_PLANNING_SCHEDULE_H

#include "base/option.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/graph.h"
#include "job/job.h"
#include "job/outputs.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"

#include <stddef.h>
#include <stdint.h>

struct yk_schedule_comparison_row {
    const struct yk_scheduler *scheduler;
    struct yk_text why; /* why there is no schedule; empty when there is one */
    int64_t makespan;   /* ticks */
    double seconds;     /* how long the scheduler took */
};

struct yk_schedule_comparison {
    const struct yk_graph *graph;
    struct yk_schedule_comparison_row *rows;
    size_t count;
    const struct yk_scheduler *best; /* the first with the shortest schedule */
    struct yk_schedule *schedule;    /* its schedule */
    int64_t lower_bound;             /* the largest that anyone proved */
};

/* Runs them all. A scheduler that finds no schedule gets a row that says why; it is a failure of
 * the whole only when none finds one, or when the machine itself fails. */
yk_status yk_schedule_comparison_run(const struct yk_graph *graph,
                                     const struct yk_scheduler_options *options,
                                     struct yk_schedule_comparison *out) YK_MUST_USE;
void yk_schedule_comparison_free(struct yk_schedule_comparison *comparison);

yk_status yk_schedule_comparison_write_text(const struct yk_schedule_comparison *comparison,
                                            const char *source, struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_comparison_write_json(const struct yk_schedule_comparison *comparison,
                                            struct yk_text *out) YK_MUST_USE;

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
