/* Schedule job: schedules a task graph on devices with one scheduler, or compares all schedulers.
 */
#ifndef YK_JOB_PLANNING_SCHEDULE_JOB_H
#define YK_JOB_PLANNING_SCHEDULE_JOB_H

#include "base/option.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/graph.h"
#include "job/job.h"
#include "job/output_files.h"
#include "sched/schedule.h"
#include "sched/scheduler.h"

#include <stddef.h>
#include <stdint.h>

struct yk_schedule_job_comparison_row {
    const struct yk_scheduler *scheduler;
    const char *failure; /* reason why the scheduler found no schedule; NULL means: it found one */
    int64_t makespan;    /* in ticks of the graph */
    double seconds;      /* run time of the scheduler */
};

/* A string that is not given is NULL. */
struct yk_schedule_job_request {
    const struct yk_job_callbacks *job;
    const char *file;      /* path of the graph; "-" means: standard input */
    bool example;          /* use the built-in example graph instead of a file */
    const char *algorithm; /* name of a scheduler, or "all" */
    const char *map; /* path of a file that assigns each task to a device; replaces the scheduler */
    /* `devices`, `speeds`, `bandwidth_bytes_per_s` and `latency_s` replace values of the graph
     * file, unless they are 0 or empty. */
    int64_t devices;
    struct yk_option_number_list speeds;
    double bandwidth_bytes_per_s;
    double latency_s;
    struct yk_job_search_options search;
    struct yk_schedule_drawing_paths drawings;
};

/* Starts as {0}; owns what it points to. */
struct yk_schedule_job_result {
    struct yk_arena *arena;
    struct yk_graph *graph;
    struct yk_schedule *schedule;     /* if `algorithm` is "all": the shortest schedule */
    struct yk_schedule_report report; /* report about `schedule` */
    /* One row for each scheduler if `algorithm` is "all". */
    struct yk_schedule_job_comparison_row *rows;
    size_t row_count;
};

yk_status yk_schedule_job_run(const struct yk_schedule_job_request *request,
                              struct yk_schedule_job_result *out) YK_MUST_USE;

yk_status yk_schedule_job_write_files(const struct yk_schedule_job_request *request,
                                      const struct yk_schedule_job_result *result) YK_MUST_USE;

void yk_schedule_job_result_free(struct yk_schedule_job_result *result);

/* The two functions below append the rows of the comparison and the lower bound. Call them only if
 * there are rows. */
yk_status yk_schedule_job_write_comparison_text(const struct yk_schedule_job_result *result,
                                                struct yk_text *out) YK_MUST_USE;
yk_status yk_schedule_job_write_comparison_json(const struct yk_schedule_job_result *result,
                                                struct yk_text *out) YK_MUST_USE;

/* Lists the choices for `algorithm`. Sets `out` to choice `number`, or returns false if
 * `number` is too large. */
bool yk_schedule_job_algorithm_choice_at(size_t number, struct yk_option_choice *out);

#endif
