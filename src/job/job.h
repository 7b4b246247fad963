/*
 * Job: one command of yoke as a function. A job reads a request struct, fills a result struct and
 * returns a status. It does not print and does not end the process.
 *
 * A request may have a pointer to struct yk_job_callbacks. With these callbacks, the job reports
 * its progress and learns that it should stop. Callbacks run on the thread that runs the job,
 * unless a comment says otherwise. Each callback may be NULL. The pointer to the struct may also be
 * NULL.
 *
 * Contents of this folder: planning/ (plan, place, schedule, order, simulate, tradeoff), training/
 * (train), profiling/ (profile, import, show, calibrate), models/ (model, generate, translate,
 * eval, tokenize, inspect, weights, pairs, bleu), reporting/ (report), machine/ (devices, doctor).
 * The jobs share these files: device, plugin, loaded_model, model_dataset, text_files,
 * output_files, profile_path, workload, device_counters, rank and rank_launch.
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

    /* `begin` and `end` are called before and after work that may take a long time. Between these
     * calls, `progress` reports the name of the current activity and the fraction of it that is
     * done, from 0 to 1. */
    void (*begin)(void *user);
    void (*progress)(void *user, const char *what, double done);
    void (*end)(void *user);

    /* Reports a status line, which replaces the previous status line. A line that was reported with
     * `keep` is not replaced. */
    void (*status_line)(void *user, const char *status_line, bool keep);

    /* All ranks have failed with this message. Rank 0 reports it here before any rank exits,
     * because a launcher may kill the remaining ranks when the first one exits. When the job later
     * returns the failure, the message is empty. */
    void (*failed)(void *user, const char *sentence);

    /* Another rank has failed or hangs. This callback does not run on the thread that runs the job.
     * That thread may be blocked in communication while it holds the lock of a stdio stream, so the
     * callback must not wait for the lock of a stdio stream. */
    void (*lost)(void *user, const char *sentence);

    /*
     * Must end this process with `status` and must not return. Called when a rank has failed and
     * the thread that runs the job may be blocked in communication forever. The callback may run on
     * any thread and must not wait for the lock of a stdio stream.
     *
     * NULL means: the job aborts the communication instead. Ranks that were connected without MPI
     * then return YK_ERROR_LOST. With MPI, MPI_Abort ends the processes of all ranks, including
     * this one. A caller whose process must not end starts the ranks as separate processes
     * (job/rank.h).
     */
    void (*exit_process)(void *user, yk_status status);

    /* When this flag becomes true, the job ends early with the result that it has so far. May be
     * NULL. */
    const atomic_bool *stop;
};

/* The five functions yk_job_report_…() call the callbacks `begin`, `progress`, `end`, `status_line`
 * and `failed`. They do nothing if `job` or the callback is NULL. */
void yk_job_report_begin(const struct yk_job_callbacks *job);
void yk_job_report_progress(const struct yk_job_callbacks *job, const char *what, double done);
void yk_job_report_end(const struct yk_job_callbacks *job);
void yk_job_report_status_line(const struct yk_job_callbacks *job, const char *line, bool keep);
void yk_job_report_failure(const struct yk_job_callbacks *job, const char *sentence);

bool yk_job_stop_requested(const struct yk_job_callbacks *job);

/* Returns the stop flag of the job. If the job has no stop flag, returns a flag that is always
 * false. Never returns NULL. */
const atomic_bool *yk_job_stop_flag(const struct yk_job_callbacks *job);

struct yk_job_search_options {
    double budget_s; /* time limit; used only if `moves` is 0 */
    /* Maximum number of moves; 0 means: no limit. */
    int64_t moves;
    int64_t seed;
};

/* Returns the options of a scheduler that searches as the request says, reports progress to the
 * callbacks of the job, and ends when the job should stop. */
struct yk_scheduler_options
yk_job_make_scheduler_options(const struct yk_job_search_options *request,
                              const struct yk_job_callbacks *job);

/* Logs that the search was interrupted, if the stop flag is set. */
void yk_job_log_if_stopped(const struct yk_job_callbacks *job);

#endif
