/*
 * Training run: trains from the first step to the last, with evaluations, checkpoints and metrics.
 *
 * Every rank of a run calls yk_training_run_execute() with the same options. Callbacks are called
 * on the thread that called it. Only rank 0 writes metrics.
 *
 * The folder train:
 *   run, evaluate               the training loop; the mean loss over a dataset (declared here)
 *   batches                     prefetches samples on the host
 *   metrics                     metrics.jsonl, one line per step
 *   partitions                  which part of every layer a rank stores and saves
 *   executor/                   runs a rank's program on a device
 *   checkpoint/                 saves and loads checkpoints, by one rank or by all together
 *   round_log, round_durations  when ops ran in recent steps; how long each op took
 */
#ifndef YK_TRAIN_TRAINING_RUN_H
#define YK_TRAIN_TRAINING_RUN_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/lr_schedule.h"
#include "nn/optimizer.h"
#include "nn/store/parameter_store.h"
#include "program/program.h"
#include "tokenizer/tokenizer.h"
#include "trace/trace.h"
#include "train/checkpoint/checkpoint.h"
#include "train/executor/executor.h"
#include "train/op_timeline_log.h"

#include <stdbool.h>
#include <stdint.h>

/* What is reported of a step that has ended. */
struct yk_step_metrics {
    int64_t step;  /* from 1 */
    int64_t steps; /* of the whole run */
    double loss;
    double norm; /* of the gradients, before clipping */
    double lr;
    double seconds;
    double tokens_per_s;
    double loss_scale;       /* 1 unless the precision is fp16 */
    bool skipped;            /* nothing was updated, because numbers were not finite */
    const double *compute_s; /* (ranks) compute time in a recent step; 0: unknown */
    int32_t ranks;
};

/* Each function may be NULL. */
struct yk_training_run_callbacks {
    void *user;
    void (*step)(void *user, const struct yk_step_metrics *step);
    void (*evaluated)(void *user, int64_t step, double loss, int64_t tokens);
    /* `fault` is the error message; NULL: the checkpoint was saved at `path`. */
    void (*saved)(void *user, int64_t step, const char *path, const char *fault);
    bool (*stop)(void *user); /* called after every step; true: the run stops */
    /* Called after every step on all ranks. Returns another program with which the run continues,
     * or NULL to keep the current one. The program must exist until the run ends. */
    const struct yk_program *(*change)(void *user, const struct yk_step_metrics *step);
    void (*changed)(void *user, int64_t step); /* the run uses that program after `step` */
    void (*timed)(void *user, const struct yk_op_timeline *timeline); /* called for every step */
};

struct yk_training_run_options {
    int64_t steps;
    int64_t batch;
    struct yk_lr_schedule lr_schedule;
    struct yk_optimizer optimizer;
    double clip;              /* maximum gradient norm; 0: no clipping */
    int64_t evaluate_every;   /* in steps; 0: only after the last step */
    int64_t evaluate_samples; /* maximum; 0: all samples */
    int64_t save_every;       /* in steps; 0: only after the last step */
    int32_t keep;             /* checkpoints that are kept; 0: all */
    bool saves_nothing;       /* no checkpoint is saved */
};

struct yk_training_run {
    const struct yk_program *program;
    struct yk_parameter_store *store;
    struct yk_executor_options executor; /* also determines the ranks of the run */
    const struct yk_sampler *samples;
    const struct yk_sampler *evaluation; /* sequential; NULL: no evaluation */
    struct yk_training_run_options options;
    struct yk_training_run_callbacks callbacks;
    const char *folder;       /* of checkpoints/ and metrics.jsonl; NULL: nothing is written */
    const char *options_json; /* a JSON object, copied into checkpoints verbatim */
    const char *base_model;   /* name or path of the model that adapters adapt; NULL: no adapters */
    const struct yk_tokenizer *tokenizer; /* saved in checkpoints; may be NULL */
    struct yk_checkpoint_state state;     /* where the run starts; afterwards, where it ended */
    /* Results: */
    double first_loss;
    double last_loss;
    double evaluation_loss; /* of the last evaluation; NAN: none */
    double median_step_s;
    double tokens;          /* trained on, without padding */
    double seconds;         /* of all steps together */
    double device_bytes;    /* peak device memory after a step; 0: unknown */
    struct yk_trace *trace; /* of this rank's last step; the caller destroys it */
    double traced_s;        /* start of the trace on the clock of base/clock.h */
    bool agreed;            /* the run failed with the same status on all ranks */
    /* Times of ops in recent steps of the last program; the caller destroys it. */
    struct yk_op_timeline_log *log;
};

/* Trains until options.steps. If `stop` returns true, it saves a checkpoint and returns
 * YK_ERROR_STOPPED. If losses or gradients stay non-finite, it returns YK_ERROR_NUMBERS and names
 * the tensor. A checkpoint that cannot be written is reported by `saved`; only the last one is an
 * error. */
yk_status yk_training_run_execute(struct yk_training_run *run) YK_MUST_USE;

/* Computes the mean loss over `run->evaluation` on all ranks. No step may be in flight. */
yk_status yk_evaluate_mean_loss_of_ranks(struct yk_executor *executor,
                                         const struct yk_training_run *run, double *out_loss,
                                         int64_t *out_tokens) YK_MUST_USE;

/* Device memory that an evaluation may use. */
struct yk_evaluation_memory {
    void *memory;
    size_t bytes;
};

struct yk_evaluation_options {
    int64_t batch;                               /* samples per forward pass */
    int64_t samples;                             /* maximum; 0: all samples */
    const struct yk_evaluation_memory *borrowed; /* used if at least one sample fits, with a smaller
                                         batch if necessary; NULL: none */
    /* Called after each forward pass with its times on the clock of base/clock.h. May be NULL. */
    void (*ran)(void *user, double began_s, double done_s);
    void *user;
};

/* Computes the mean loss over a sequential sampler on this rank alone. */
yk_status yk_evaluate_mean_loss(struct yk_parameter_store *store, const struct yk_sampler *sampler,
                                const struct yk_evaluation_options *evaluation, double *out_loss,
                                int64_t *out_tokens) YK_MUST_USE;

#endif
