/*
 * Job: what every job is given by whoever runs it: callbacks that report how far it is, and a flag
 * that asks it to stop.
 *
 * A job is a function with a request record, which has a `const struct yk_job *`, and a result
 * record. It returns a status, and neither prints nor ends the process. Callbacks are made on the
 * thread that runs the job, unless a comment says otherwise; any may be NULL, and so may the
 * pointer itself.
 *
 * The room: planning/ (plan, place, schedule, order, simulate, tradeoff), training/ (train and all
 * it needs), profiling/ (profile, import, show, calibrate), models/ (model, generate, translate,
 * eval, tokenize, inspect, weights, pairs, bleu), reporting/ (report), machine/ (devices, doctor);
 * shared by them: device, plugin, loaded_model, model_data, text_files, outputs, profile_path,
 * workload, counters, rank and launch.
 */
#ifndef YK_JOB_JOB_H
#define YK_JOB_JOB_H

#include "base/status.h"
#include "sched/scheduler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_job {
    void *user;

    /* Work begins that may take long; so much of it (0 to 1) is done; it has ended. */
    void (*begin)(void *user);
    void (*progress)(void *user, const char *what, double done);
    void (*end)(void *user);

    /* A line about work under way, which replaces the one before unless that was to be kept. */
    void (*line)(void *user, const char *line, bool keep);

    /* Several ranks have come to the same failure. Rank 0 reports it here, at once, because a
     * launcher may end the other ranks as soon as one has ended. The status that the job returns
     * then has an empty sentence. */
    void (*failed)(void *user, const char *sentence);

    /* A rank of several is lost; one of the others reports it here. Made on another thread, while
     * the thread that runs the job may hang in an exchange with the lock of a stream: the callback
     * must not wait for one. */
    void (*lost)(void *user, const char *sentence);

    /* Ends this process with `status`: a rank is lost or gives up, and the thread that runs the job
     * may never return from an exchange. Made on any thread; the callback must not return, and must
     * not wait for the lock of a stream.
     *
     * NULL: the job aborts the communication instead. Ranks that have met without MPI then return
     * YK_ERROR_LOST. MPI cannot do that: MPI_Abort ends the processes of all ranks, the caller's,
     * too. A caller that is to outlive its ranks starts them as processes of their own
     * (job/launch.h). */
    void (*leave)(void *user, yk_status status);

    /* Set: the job ends early, with what it has by then. NULL: nobody asks. */
    const atomic_bool *stop;
};

void yk_job_begin(const struct yk_job *job);
void yk_job_progress(const struct yk_job *job, const char *what, double done);
void yk_job_end(const struct yk_job *job);
void yk_job_line(const struct yk_job *job, const char *line, bool keep);
void yk_job_failed(const struct yk_job *job, const char *sentence);

bool yk_job_is_stopped(const struct yk_job *job);

/* The flag itself; one that is never set where there is none. */
const atomic_bool *yk_job_stop(const struct yk_job *job);

struct yk_job_search {
    double budget_s;
    int64_t moves; /* positive: this many moves instead, whatever the time */
    int64_t seed;
};

/* What is asked of a search, with the progress and the stop of the job. */
struct yk_scheduler_options yk_job_search_options(const struct yk_job_search *request,
                                                  const struct yk_job *job);

/* Notes that the search was interrupted, if it was. */
void yk_job_note_interruption(const struct yk_job *job);

#endif
