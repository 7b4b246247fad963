/*
 * Train progress: callbacks by which a training run reports its progress. They are called by rank 0
 * only, on the thread that trains, unless a comment says otherwise. Each may be NULL. The structs
 * and everything they point to are valid until the callback returns.
 */
#ifndef YK_JOB_TRAINING_PROGRESS_H
#define YK_JOB_TRAINING_PROGRESS_H

#include "job/training/result.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_train_job_phase {
    YK_TRAIN_JOB_PHASE_PLANNING, /* the search for a plan; a request to stop ends the search early
                                  */
    YK_TRAIN_JOB_PHASE_TRAINING, /* training; a request to stop saves a checkpoint and ends the run
                                  */
};

/* A description of the run, before its first step. */
struct yk_train_start_report {
    const struct yk_train_result *predicted; /* its predictions are set */
    int64_t vocabulary;                      /* tokens */
    const char *data;                        /* description of the dataset */
    int64_t epoch_units; /* samples per epoch; if batch_rows > 0, batches of pairs per epoch */
    int64_t batch_rows;  /* maximum tokens per side of a batch of pairs; 0: batches count samples */
    const char *plan;    /* one-line summary */
    const char *resumed; /* checkpoint to resume from; NULL: a new run */
    int64_t steps_done;  /* steps before the checkpoint */
};

/* A finished step. */
struct yk_train_step_report {
    int64_t step;  /* counts from 1 */
    int64_t steps; /* of the whole run */
    double loss;
    double norm; /* gradient norm */
    double lr;   /* learning rate */
    double loss_scale;
    bool scaled;  /* fp16: the loss is scaled */
    bool skipped; /* the update was skipped because the gradient was not finite */
    double seconds;
    double tokens_per_s;
    double mfu; /* model FLOPs utilization, 0 to 1, see planner/planner.h */
    double exact_mfu;
    double memory_bytes; /* current memory of this process */
    double predicted_s;  /* predicted time of a step */
    double remaining_s;  /* estimated time until the last step, from recent steps */
    int32_t slowest;     /* rank with the longest compute time; -1: single rank, or not known */
    double slowest_compute_fraction; /* its compute time / step time */
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
    void (*phase)(void *user, enum yk_train_job_phase phase); /* on every rank */
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
