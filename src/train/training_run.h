/*
 * Training run: trains from the first step to the last, with evaluations, checkpoints and metrics.
 *
 * Every rank of a run calls yk_training_run_execute() with the same options. The callbacks are
 * called on the thread that called this function. Only rank 0 writes metrics.
 *
 * The files of the folder train:
 *
 *   training_run                   the training loop
 *   evaluate                       loss and accuracy over a dataset (declared here)
 *   batch_prefetcher               prefetches samples on the host
 *   metrics_file                   metrics.jsonl, one line per step
 *   rank_partitions                the part of every layer that a rank stores and saves
 *   executor/                      runs a rank's program on a device
 *   checkpoint/                    saves and loads checkpoints
 *   op_timeline_log, op_durations  when ops ran in recent steps; how long each op took
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

/* The results of a step that has ended. */
struct yk_step_metrics {
    int64_t step;  /* number of the step, counted from 1 */
    int64_t steps; /* number of steps of the whole run */
    double loss;
    double norm; /* norm of the gradients before clipping */
    double lr;
    double seconds;
    double tokens_per_s; /* an image counts as one token */
    double loss_scale;   /* 1 unless the precision is fp16 */
    bool skipped;        /* no weight was updated, because a gradient was not finite */
    /* (ranks) compute time of each rank in a recent step before this one; 0 means: not known yet,
     * or there is only one rank. */
    const double *compute_s;
    int32_t ranks;
};

/* The results of an evaluation. */
struct yk_evaluation_result {
    double loss;    /* mean over the targets with a loss; NAN means: there was no evaluation */
    int64_t tokens; /* number of these targets; one for each image */
    /* Of a classifier: the part of the samples whose class has the largest logit, and the part
     * whose class has one of the five largest; NAN: the model is no classifier. */
    double accuracy;
    double top5_accuracy;
};

/* Each function may be NULL. */
struct yk_training_run_callbacks {
    void *user;
    void (*step)(void *user, const struct yk_step_metrics *step);
    void (*evaluated)(void *user, int64_t step, const struct yk_evaluation_result *result);
    /* `fault` is the error message; NULL means: the checkpoint was saved at `path`. */
    void (*saved)(void *user, int64_t step, const char *path, const char *fault);
    /* Called after every step, but only once if several steps end together. Returns true to stop
     * the run. */
    bool (*stop)(void *user);
    /* Called after every step on all ranks. Returns another program to continue the run with, or
     * NULL to keep the current program. The returned program must exist until the run ends. */
    const struct yk_program *(*change)(void *user, const struct yk_step_metrics *step);
    void (*changed)(void *user, int64_t step); /* the steps after `step` use the new program */
    void (*timed)(void *user, const struct yk_op_timeline *timeline); /* called for every step */
};

struct yk_training_run_options {
    int64_t steps;
    int64_t batch;
    struct yk_lr_schedule lr_schedule;
    struct yk_optimizer_options optimizer;
    double clip;            /* maximum gradient norm; 0 means: no clipping */
    int64_t evaluate_every; /* number of steps between evaluations; 0 means: evaluate only after the
                               last step */
    int64_t evaluate_samples; /* maximum number of samples per evaluation; 0 means: all samples */
    int64_t save_every; /* number of steps between checkpoints; 0 means: save only after the last
                           step */
    int32_t keep;       /* only this number of newest checkpoints is kept; 0 means: all are kept */
    bool saves_nothing; /* no checkpoint is saved */
};

struct yk_training_run {
    const struct yk_program *program;
    struct yk_parameter_store *store;
    struct yk_executor_options executor; /* also determines the ranks of the run */
    const struct yk_sampler *samples;
    const struct yk_sampler *evaluation; /* a sequential sampler; NULL means: no evaluation */
    struct yk_training_run_options options;
    struct yk_training_run_callbacks callbacks;
    /* Folder that contains checkpoints/ and metrics.jsonl; NULL means: write nothing. */
    const char *folder;
    const char *options_json; /* a JSON object, copied verbatim into checkpoints */
    /* Name or path of the model that adapters adapt; NULL means: unknown, or no adapters. */
    const char *base_model;
    const struct yk_tokenizer *tokenizer;    /* saved in checkpoints; may be NULL */
    const struct yk_image_processor *images; /* the same for a model that reads images */
    /* Before the run: where it starts; after the run: where it ended. */
    struct yk_checkpoint_progress state;
    /* Results: */
    double first_loss;
    double last_loss;
    struct yk_evaluation_result evaluated; /* the last evaluation */
    double median_step_s;
    double tokens;          /* number of tokens in all steps, without padding; an image is one */
    double seconds;         /* total time of all steps */
    double device_bytes;    /* most device memory in use, read after some steps; 0 means: unknown */
    struct yk_trace *trace; /* trace of this rank's last step; the caller destroys it */
    double traced_s;        /* time at which the trace starts, on the clock of base/clock.h */
    bool agreed;            /* the run failed, with the same status on all ranks */
    /* The times of ops in recent steps; only steps of the program that ran last. The caller
     * destroys the log. */
    struct yk_op_timeline_log *log;
};

/* Trains until `options.steps` steps are done. If `stop` returns true on any rank, all ranks stop
 * after the same step, save a checkpoint and return YK_ERROR_STOPPED, unless this step is the last.
 * If losses or gradients stay non-finite, returns YK_ERROR_NUMBERS; the message contains the name
 * of the tensor, or the loss. If a checkpoint cannot be written, calls `saved` with the error
 * message and continues. If this is the last checkpoint, returns the error instead. */
yk_status yk_training_run_execute(struct yk_training_run *run) YK_MUST_USE;

/* Evaluates over `run->evaluation` on all ranks. No step may be in flight. */
yk_status yk_evaluate_on_all_ranks(struct yk_executor *executor, const struct yk_training_run *run,
                                   struct yk_evaluation_result *out) YK_MUST_USE;

/* Device memory that an evaluation may use. */
struct yk_evaluation_borrowed_memory {
    void *memory;
    size_t bytes;
};

struct yk_evaluation_options {
    int64_t batch;   /* samples per forward pass */
    int64_t samples; /* maximum number of samples; 0 means: all samples */
    /* Memory to use instead of allocating some. If `batch` samples do not fit into it, the batch is
     * smaller; if not even one sample fits, memory is allocated. NULL means: allocate memory. */
    const struct yk_evaluation_borrowed_memory *borrowed;
    /* Called after each forward pass with the times when it began and when it was done, on the
     * clock of base/clock.h. May be NULL. */
    void (*ran)(void *user, double began_s, double done_s);
    void *user;
};

/* Evaluates over a sequential sampler, on this rank only. */
yk_status yk_evaluate_on_this_rank(struct yk_parameter_store *store,
                                   const struct yk_sampler *sampler,
                                   const struct yk_evaluation_options *evaluation,
                                   struct yk_evaluation_result *out) YK_MUST_USE;

#endif
