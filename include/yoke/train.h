/*
 * Training: what `yoke train` does, for a program: find or read a plan, train by it, keep
 * checkpoints, metrics and a trace in the folder of the run, and continue a run.
 *
 * A training is described by settings that have the names and values of the options of `yoke train`
 * ("yoke help train" lists them): yoke_training_set(training, "batch", "16"). What is not set takes
 * its usual value, or with "resume" that of the run that is continued.
 *
 * Ranks. Each process is one rank. A program that was started by mpirun, srun or torchrun joins the
 * ranks that were started with it; every rank sets the same and runs the same. The library starts
 * no ranks: without a launcher there is one.
 *
 * Signals and output are left alone. Device memory is held while yoke_training_run() runs. The
 * libraries that ranks communicate by (MPI, NCCL) are loaded when they are needed, and stay.
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
    int64_t steps;       /* of the run in all */
    double loss;         /* mean over the tokens that bear loss, of all ranks */
    double norm;         /* of all gradients, before clipping */
    double lr;           /* learning rate */
    double seconds;      /* wall clock */
    double tokens_per_s; /* of all ranks */
    bool skipped;        /* fp16: numbers overflowed, and nothing was updated */
};

/* Filled by the caller; any may be NULL. `lost` and `leave` are called on threads of the library's,
 * the others on the thread that runs the training, on rank 0 alone. */
struct yoke_training_callbacks {
    void *user;
    void (*step)(void *user, const struct yoke_training_step *step);
    void (*evaluated)(void *user, int64_t step, double loss);
    void (*saved)(void *user, int64_t step, const char *checkpoint);
    yoke_progress progress; /* of the search for a plan */
    const yoke_stop *stop;  /* raised: a checkpoint is saved, and the training ends */

    /* A rank is gone, or hangs: `sentence` names it. One of the ranks left reports it, on a thread
     * of the library's, while the one that runs the training may wait for ever: it must not wait
     * for a lock, as that of a stream. */
    void (*lost)(void *user, const char *sentence);

    /* Ends this process with `status`, by _exit(): called after `lost`, on every rank, for the same
     * reason; it must not return. NULL: the communication is aborted instead. Over NCCL,
     * yoke_training_run() then fails with YOKE_ERROR_LOST; MPI_Abort() ends the processes of all
     * ranks, this one, too. */
    void (*leave)(void *user, yoke_status status);
};

/* What became of it. Ranks other than 0 know `rank`, `rank_count` and `stopped`; the rest is 0 or
 * NULL there. Losses are NAN where there are none. */
struct yoke_training_result {
    const char *folder;     /* of the run */
    const char *checkpoint; /* the newest; NULL: none was saved */
    int32_t rank;           /* of this process */
    int32_t rank_count;
    int64_t steps_done; /* of the run, with those before it was continued */
    bool stopped;       /* by the flag, before its last step */
    double first_loss;  /* of this call's first step */
    double last_loss;
    double evaluation_loss;
    double seconds; /* of this call's steps */
    double tokens;
    double median_step_s;
    double predicted_step_s;
    double mfu; /* model FLOPS utilisation, 0 to 1 (docs/costs.md, "MFU") */
};

YOKE_API yoke_status yoke_training_create(yoke_training **out) YOKE_MUST_USE;
YOKE_API void yoke_training_destroy(yoke_training *training);

/* Sets what an option of `yoke train` says, `name` without dashes; "true" or "false" for those that
 * take no value. The last of several values of one name counts. */
YOKE_API yoke_status yoke_training_set(yoke_training *training, const char *name,
                                       const char *value) YOKE_MUST_USE;

/*
 * Trains to the last step, or until it is stopped, which is no failure. `callbacks` may be NULL.
 * May be called again, to continue the run once "resume" is set; but a process joins other ranks by
 * MPI once. Of a failure that all ranks have come to, rank 0 has the message.
 */
YOKE_API yoke_status yoke_training_run(
    yoke_training *training, const struct yoke_training_callbacks *callbacks) YOKE_MUST_USE;

/* Of the last run that did not fail; NULL before. */
YOKE_API const struct yoke_training_result *yoke_training_result(const yoke_training *training);

#ifdef __cplusplus
}
#endif

#endif
