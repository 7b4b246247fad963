/*
 * Job: one command of yoke as a function. A job reads a request struct, fills a result struct and
 * returns a status. It does not print and does not end the process.
 *
 * Every request has a pointer to struct yk_job_callbacks, by which the job reports progress and
 * learns that it should stop. Callbacks run on the thread that runs the job, unless a comment says
 * otherwise. Each callback may be NULL, and so may the pointer to the struct.
 *
 * Contents of this folder: planning/ (plan, place, schedule, order, simulate, tradeoff), training/
 * (train), profiling/ (profile, import, show, calibrate), models/ (model, generate, translate,
 * eval, tokenize, inspect, weights, pairs, bleu), reporting/ (report), machine/ (devices, doctor).
 * Shared by these: device, plugin, loaded_model, model_data, text_files, output_files,
 * profile_path, workload, device_counters, rank and rank_launch.
 */
#ifndef YK_JOB_JOB_H
#define YK_JOB_JOB_H

#include "base/status.h"
#include "sched/scheduler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_job_callbacks {
    void *user;

    /* `begin` and `end` enclose work that may take long. In between, `progress` reports the name of
     * the current activity and the fraction that is done, from 0 to 1. */
    void (*begin)(void *user);
    void (*progress)(void *user, const char *what, double done);
    void (*end)(void *user);

    /* A status line. It replaces the previous one, unless that one was reported with `keep`. */
    void (*status_line)(void *user, const char *status_line, bool keep);

    /* All ranks have failed with this message. Rank 0 reports it here before any rank exits,
     * because a launcher may kill the remaining ranks when the first one exits. The status that the
     * job returns later has an empty message. */
    void (*failed)(void *user, const char *sentence);

    /* Another rank has failed or hangs. Runs on a different thread. The thread that runs the job
     * may be blocked in communication and hold the lock of a stdio stream, so the callback must not
     * wait for such a lock. */
    void (*lost)(void *user, const char *sentence);

    /* Must end this process with `status` and must not return. Called when a rank has failed and
     * the thread that runs the job may be blocked in communication forever. Runs on any thread, and
     * must not wait for the lock of a stdio stream.
     *
     * NULL means: the job aborts the communication instead. Ranks that were connected without MPI
     * then return YK_ERROR_LOST. With MPI, MPI_Abort ends the processes of all ranks, including
     * this one. A caller that must survive starts its ranks as separate processes
     * (job/rank_launch.h). */
    void (*exit_process)(void *user, yk_status status);

    /* When it becomes true, the job ends early with the result it has so far. May be NULL. */
    const atomic_bool *stop;
};

/* Call the callback of that name, if it is set. */
void yk_job_report_begin(const struct yk_job_callbacks *job);
void yk_job_report_progress(const struct yk_job_callbacks *job, const char *what, double done);
void yk_job_report_end(const struct yk_job_callbacks *job);
void yk_job_report_status_line(const struct yk_job_callbacks *job, const char *line, bool keep);
void yk_job_report_failure(const struct yk_job_callbacks *job, const char *sentence);

bool yk_job_stop_requested(const struct yk_job_callbacks *job);

/* The stop flag; a flag that is always false if the job has none. Never NULL. */
const atomic_bool *yk_job_stop_flag(const struct yk_job_callbacks *job);

struct yk_job_search_request {
    double budget_s; /* time limit */
    int64_t moves;   /* > 0: stop after this many moves and ignore budget_s; 0: no limit */
    int64_t seed;
};

/* Scheduler options for the search, with the progress callback and the stop flag of the job. */
struct yk_scheduler_options
yk_job_make_scheduler_options(const struct yk_job_search_request *request,
                              const struct yk_job_callbacks *job);

/* Logs that the search was interrupted, if the stop flag is set. */
void yk_job_log_interruption(const struct yk_job_callbacks *job);

#endif
