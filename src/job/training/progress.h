/*
 * Train progress: callbacks with which a training run reports its progress. Only rank 0 calls them,
 * on the thread that trains, unless a comment says otherwise. Each callback may be NULL. The
 * structs that a callback receives, and everything they point to, are valid until the callback
 * returns.
 */
#ifndef YK_JOB_TRAINING_PROGRESS_H
#define YK_JOB_TRAINING_PROGRESS_H

#include "job/training/result.h"
#include "train/training_run.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_train_job_phase {
    YK_TRAIN_JOB_PHASE_PLANNING, /* searches for a plan; a stop ends the search early */
    YK_TRAIN_JOB_PHASE_TRAINING, /* trains; a stop saves a checkpoint and ends the run */
};

/* Describes the run before its first step. */
struct yk_train_start_report {
    const struct yk_train_result *predicted; /* result in which only the predictions are set */
    int64_t vocabulary;                      /* number of tokens in the vocabulary */
    const char *data;                        /* description of the dataset */
    int64_t epoch_units; /* samples per epoch, or batches of sentence pairs if batch_rows > 0 */
    /* For sentence pairs: maximum tokens per language in a batch; otherwise 0. */
    int64_t batch_rows;
    const char *plan;    /* one-line summary of the plan */
    const char *resumed; /* checkpoint to resume from; NULL means: a new run */
    int64_t steps_done;  /* steps that were done before the checkpoint was saved */
};

/* Describes a finished step. */
struct yk_train_step_report {
    const struct yk_step_metrics *metrics;
    bool scaled;         /* the loss is scaled, because the precision is fp16 */
    double mfu;          /* model FLOPS utilisation, 0 to 1; `formula` in planner/planner.h */
    double exact_mfu;    /* `exact` in planner/planner.h */
    double memory_bytes; /* current memory of this process */
    double predicted_s;  /* predicted time of a step */
    double remaining_s;  /* estimated time until the last step, from recent steps */
    int32_t slowest; /* rank with the longest compute time; -1 means: only one rank, or not known */
    double slowest_compute_fraction; /* compute time of rank `slowest` / step time */
};

struct yk_train_evaluation_report {
    int64_t step;
    double loss;
    int64_t tokens;
};

struct yk_train_checkpoint_report {
    int64_t step;
    const char *path;
};

struct yk_train_progress_callbacks {
    void *user;
    void (*phase)(void *user, enum yk_train_job_phase phase); /* called on every rank */
    void (*start)(void *user, const struct yk_train_start_report *start);
    void (*step)(void *user, const struct yk_train_step_report *step);
    void (*evaluation)(void *user, const struct yk_train_evaluation_report *evaluation);
    void (*checkpoint)(void *user, const struct yk_train_checkpoint_report *checkpoint);
};

static inline void
yk_train_progress_report_phase(const struct yk_train_progress_callbacks *progress,
                               enum yk_train_job_phase phase)
{
    if (progress && progress->phase) {
        progress->phase(progress->user, phase);
    }
}

#endif
