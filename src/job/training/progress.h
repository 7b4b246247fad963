/*
 * Train progress: what a training run reports while it runs. Callbacks are made on the thread that
 * trains, and by rank 0 alone, except where a comment says otherwise; any may be NULL. Records and
 * what they point to are valid until the callback returns.
 */
#ifndef YK_JOB_TRAINING_PROGRESS_H
#define YK_JOB_TRAINING_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum yk_train_phase {
    YK_TRAIN_PHASE_PLANNING, /* from now on, a request to stop ends the search for a plan */
    YK_TRAIN_PHASE_STEPS,    /* from now on, it saves a checkpoint and returns YK_ERROR_STOPPED */
};

/* What is going to happen, once the plan is known. */
struct yk_train_start {
    const char *model;
    int64_t parameters;
    int64_t trainable;
    int64_t vocabulary;
    const char *data;    /* what it is, in words */
    int64_t epoch_units; /* samples, or batches of pairs, in an epoch */
    int64_t batch_rows;  /* of such batches: tokens of a side at most; 0: samples */
    int64_t sequence;
    int64_t batch;
    const char *precision;
    const char *plan; /* in words */
    double predicted_step_s;
    double predicted_error; /* of predicted_step_s, relative */
    double predicted_s;     /* for all remaining steps */
    double planned_bytes;   /* of rank 0 */
    double limit_bytes;
    const char *resumed; /* the checkpoint that the run goes on from; NULL: a new run */
    int64_t steps_done;  /* by then */
};

/* A step that has ended. */
struct yk_train_step {
    int64_t step; /* from 1 */
    int64_t steps;
    double loss;
    double norm; /* of the gradient */
    double rate;
    double loss_scale;
    bool scaled;  /* fp16: the loss is scaled; a skipped step lowers the scale */
    bool skipped; /* the update */
    double seconds;
    double tokens_per_s;
    double mfu; /* 0 to 1, see planner/planner.h */
    double exact_mfu;
    double memory_bytes; /* of this process, now */
    double predicted_s;
    double left_s;       /* until the last step, by the recent steps */
    int32_t slowest;     /* the rank that computes longest; -1: alone, or not known */
    double slowest_part; /* fraction of the step during which it computes */
};

struct yk_train_evaluation {
    int64_t step;
    double loss;
    int64_t tokens;
};

struct yk_train_checkpoint {
    int64_t step;
    const char *path;
};

struct yk_train_progress {
    void *user;
    void (*phase)(void *user, enum yk_train_phase phase); /* on every rank */
    void (*start)(void *user, const struct yk_train_start *start);
    void (*step)(void *user, const struct yk_train_step *step);
    void (*evaluation)(void *user, const struct yk_train_evaluation *evaluation);
    void (*checkpoint)(void *user, const struct yk_train_checkpoint *checkpoint);
};

static inline void yk_train_progress_phase(const struct yk_train_progress *progress,
                                           enum yk_train_phase phase)
{
    if (progress && progress->phase) {
        progress->phase(progress->user, phase);
    }
}

#endif
