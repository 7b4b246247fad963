/*
 * Training: what `yoke train` does, as functions. A training run finds or reads a plan and executes
 * it. It writes checkpoints, metrics and a trace to the folder of the run. A run can be resumed.
 *
 * Options. yoke_training_set() accepts the names and values of the options of `yoke train`, which
 * `yoke help train` lists. Example: yoke_training_set(training, "batch", "16"). An option that is
 * not set has its default value or, with the option "resume", the value of the resumed run.
 *
 * Ranks. Each process is one rank. A process that mpirun, srun or torchrun started joins the other
 * ranks of the same launch. All ranks must set the same options and make the same calls. The
 * library does not start ranks: without a launcher there is only one rank.
 *
 * The library does not change signal handlers and does not print. It holds device memory only while
 * yoke_training_run() runs. It loads the communication libraries (MPI, NCCL) on demand and does not
 * unload them.
 */
#ifndef YOKE_TRAIN_H
#define YOKE_TRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_training yoke_training;

struct yoke_training_step {
    int64_t step;        /* number of the step, counted from 1 */
    int64_t steps;       /* number of steps of the whole run */
    double loss;         /* mean over all tokens (of all ranks) that are part of the loss */
    double norm;         /* global norm of the gradients, before clipping */
    double lr;           /* learning rate */
    double seconds;      /* wall clock time of the step */
    double tokens_per_s; /* tokens, or images, per second of all ranks together */
    bool skipped;        /* fp16 gradients overflowed: no parameter was updated */
};

/* Filled by the caller. All members may be NULL. A thread of the library calls `lost`. `leave` may
 * be called by a thread of the library or by the thread that runs the training. The other
 * callbacks are called only by the thread that runs the training, and only on rank 0. */
struct yoke_training_callbacks {
    void *user;
    void (*step)(void *user, const struct yoke_training_step *step);
    void (*evaluated)(void *user, int64_t step, double loss);
    void (*saved)(void *user, int64_t step, const char *checkpoint);
    yoke_progress progress; /* progress of the search for a plan */
    const yoke_stop *stop;  /* a flag; when it is raised, the run saves a checkpoint and stops */

    /* Is called if a rank has failed or hangs; `sentence` says which rank. Only one of the other
     * ranks makes this call, from a thread of the library. The training thread may be blocked
     * forever, so the callback must not wait for a lock, not even for the lock of a stdio
     * stream. */
    void (*lost)(void *user, const char *sentence);

    /* Is called on every remaining rank after a rank has failed or hangs, and can be called on the
     * rank that failed. Must end this process with _exit(status) and must not return. If `leave` is
     * NULL, the communication is aborted instead: with NCCL, yoke_training_run() fails with
     * YOKE_ERROR_LOST; with MPI, MPI_Abort() ends the processes of all ranks, including this
     * one. */
    void (*leave)(void *user, yoke_status status);
};

/* The result of a run. On ranks other than 0, only `rank`, `rank_count` and `stopped` are set; the
 * other members are 0 or NULL. A loss that does not exist is NAN. */
struct yoke_training_result {
    const char *folder;     /* path of the folder of the run */
    const char *checkpoint; /* path of the newest checkpoint; NULL means: none was saved */
    int32_t rank;           /* rank of this process */
    int32_t rank_count;
    int64_t steps_done; /* steps of the whole run, including the steps before this call */
    bool stopped;       /* the stop flag ended the run before its last step */
    double first_loss;  /* loss of the first step of this call */
    double last_loss;
    double evaluation_loss;
    double seconds; /* time of all steps of this call */
    double tokens;  /* number of tokens, or images, in all steps of this call */
    double median_step_s;
    double predicted_step_s;
    double mfu; /* model FLOPS utilisation, 0 to 1 (docs/costs.md, "MFU") */
};

YOKE_API yoke_status yoke_training_create(yoke_training **out) YOKE_MUST_USE;
YOKE_API void yoke_training_destroy(yoke_training *training);

/* Sets an option of `yoke train`. `name` has no dashes. `value` is "true" or "false" for options
 * that have no value on the command line. If an option is set again, the new value replaces the old
 * value. */
YOKE_API yoke_status yoke_training_set(yoke_training *training, const char *name,
                                       const char *value) YOKE_MUST_USE;

/*
 * Trains until the last step or until the stop flag is raised. Returns YOKE_OK in both cases.
 * `callbacks` may be NULL. To continue the run, set the option "resume" and call this function
 * again. A process can join other ranks over MPI only once. If all ranks fail together, only
 * yoke_message() of rank 0 returns the message.
 */
YOKE_API yoke_status yoke_training_run(
    yoke_training *training, const struct yoke_training_callbacks *callbacks) YOKE_MUST_USE;

/* Returns the result of the last call of yoke_training_run(), or NULL if that call failed or if
 * there was none. */
YOKE_API const struct yoke_training_result *yoke_training_result(const yoke_training *training);

#ifdef __cplusplus
}
#endif

#endif
