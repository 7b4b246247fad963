/*
 * Training: the functions of `yoke train`. A training finds or reads a plan, executes it, writes
 * checkpoints, metrics and a trace to the folder of the run, and can resume a run.
 *
 * Options. yoke_training_set() accepts the names and values of the options of `yoke train`, which
 * "yoke help train" lists: yoke_training_set(training, "batch", "16"). An option that is not set
 * has its default or, with "resume", the value of the resumed run.
 *
 * Ranks. Each process is one rank. A program that mpirun, srun or torchrun started joins the ranks
 * of the same launch; every rank must set the same options and make the same calls. The library
 * does not start ranks: without a launcher there is one.
 *
 * The library does not change signal handlers and does not print. It holds device memory while
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
    int64_t step;        /* from 1 */
    int64_t steps;       /* of the whole run */
    double loss;         /* mean over the tokens of all ranks that are part of the loss */
    double norm;         /* global norm of the gradients, before clipping */
    double lr;           /* learning rate */
    double seconds;      /* wall clock */
    double tokens_per_s; /* of all ranks together */
    bool skipped;        /* fp16 gradients overflowed: no parameter was updated */
};

/* Filled by the caller. All members may be NULL. Threads of the library call `lost` and `leave`.
 * The thread that runs the training calls the others, on rank 0 only. */
struct yoke_training_callbacks {
    void *user;
    void (*step)(void *user, const struct yoke_training_step *step);
    void (*evaluated)(void *user, int64_t step, double loss);
    void (*saved)(void *user, int64_t step, const char *checkpoint);
    yoke_progress progress; /* of the search for a plan */
    const yoke_stop *stop;  /* raise it to save a checkpoint and stop */

    /* A rank has failed or hangs; `sentence` names it. One of the remaining ranks makes this call,
     * from a thread of the library. The training thread may be blocked forever, therefore the
     * callback must not wait for a lock, not even for that of a stream. */
    void (*lost)(void *user, const char *sentence);

    /* Must end this process with _exit(status) and not return. It is called on every rank after
     * `lost`. If it is NULL, the communication is aborted instead: with NCCL, yoke_training_run()
     * fails with YOKE_ERROR_LOST; with MPI, MPI_Abort() ends the processes of all ranks, including
     * this one. */
    void (*leave)(void *user, yoke_status status);
};

/* The result of a run. Ranks other than 0 have only `rank`, `rank_count` and `stopped`; their other
 * members are 0 or NULL. A loss that does not exist is NAN. */
struct yoke_training_result {
    const char *folder;     /* of the run */
    const char *checkpoint; /* the newest one; NULL means: none was saved */
    int32_t rank;           /* of this process */
    int32_t rank_count;
    int64_t steps_done; /* of the run, including steps before it was resumed */
    bool stopped;       /* the stop flag ended the run before its last step */
    double first_loss;  /* of the first step of this call */
    double last_loss;
    double evaluation_loss;
    double seconds; /* of the steps of this call */
    double tokens;
    double median_step_s;
    double predicted_step_s;
    double mfu; /* model FLOPS utilisation, 0 to 1 (docs/costs.md, "MFU") */
};

YOKE_API yoke_status yoke_training_create(yoke_training **out) YOKE_MUST_USE;
YOKE_API void yoke_training_destroy(yoke_training *training);

/* Sets an option of `yoke train`. `name` has no dashes. `value` is "true" or "false" for options
 * without a value. A later value replaces an earlier one of the same name. */
YOKE_API yoke_status yoke_training_set(yoke_training *training, const char *name,
                                       const char *value) YOKE_MUST_USE;

/*
 * Trains until the last step or until the stop flag is raised; both are a success. `callbacks` may
 * be NULL. It may be called again to continue the run, with the option "resume". A process can join
 * other ranks over MPI only once. If all ranks fail together, rank 0 has the message.
 */
YOKE_API yoke_status yoke_training_run(
    yoke_training *training, const struct yoke_training_callbacks *callbacks) YOKE_MUST_USE;

/* The result of the last successful run, or NULL. */
YOKE_API const struct yoke_training_result *yoke_training_result(const yoke_training *training);

#ifdef __cplusplus
}
#endif

#endif
