/*
 * Run: a training from its first step to its last: batches, steps, evaluation, checkpoints,
 * metrics.
 *
 * Callbacks report progress on the thread that called yk_run_train(). In a run of several ranks
 * each calls it, with the same options; rank 0 alone keeps metrics.
 *
 * The room train:
 *   run, evaluate          the loop; the mean loss over a dataset (declared here)
 *   batches, metrics       samples prepared on the host; one line of JSON a step
 *   partitions             which part of every layer a rank keeps and saves
 *   executor/              a rank's program on a device
 *   checkpoint/            saving and resuming, alone or by all ranks together
 *   round_log, round_durations   when ops ran in some steps; how long each took on all ranks
 */
#ifndef YK_TRAIN_RUN_H
#define YK_TRAIN_RUN_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/lr_schedule.h"
#include "nn/optimizer.h"
#include "nn/store/store.h"
#include "program/program.h"
#include "tokenizer/tokenizer.h"
#include "trace/trace.h"
#include "train/checkpoint/checkpoint.h"
#include "train/executor/executor.h"
#include "train/round_log.h"

#include <stdbool.h>
#include <stdint.h>

/* One step that has ended: what a person sees and what the metrics hold. */
struct yk_run_step {
    int64_t step; /* from 1 */
    int64_t steps;
    double loss;
    double norm;
    double lr;
    double seconds;
    double tokens_per_s;
    double loss_scale; /* 1 unless in half precision */
    bool skipped;
    const double
        *compute_s; /* (ranks) how long each computed, in a step shortly before; 0: unknown */
    int32_t ranks;
};

struct yk_run_callbacks {
    void *user;
    void (*step)(void *user, const struct yk_run_step *step);
    void (*evaluated)(void *user, int64_t step, double loss, int64_t tokens);
    /* `fault` is the sentence of what went wrong, NULL when it was saved at `path`. */
    void (*saved)(void *user, int64_t step, const char *path, const char *fault);
    bool (*stop)(void *user); /* asked after every step */
    /* Asked after every step, on all ranks alike: another program for the same store to go on with,
     * which stays until the run ends, or NULL: the same. */
    const struct yk_program *(*change)(void *user, const struct yk_run_step *step);
    void (*changed)(void *user, int64_t step); /* to that program, after this step */
    void (*timed)(void *user, const struct yk_round_times *times); /* of every step */
};

struct yk_run_options {
    int64_t steps;
    int64_t batch;
    struct yk_lr_schedule lr_schedule;
    struct yk_optimizer optimizer;
    double clip;              /* 0: none */
    int64_t evaluate_every;   /* steps; 0: only after the last */
    int64_t evaluate_samples; /* at most; 0: all there are */
    int64_t save_every;       /* steps; 0: only after the last */
    int32_t keep;             /* checkpoints */
    bool saves_nothing;       /* no checkpoint, not even after the last step */
};

struct yk_run {
    const struct yk_program *program;
    struct yk_store *store;
    struct yk_executor_options executor; /* its ranks are those of the run */
    const struct yk_sampler *samples;
    const struct yk_sampler *evaluation; /* sequential; NULL: none */
    struct yk_run_options options;
    struct yk_run_callbacks callbacks;
    const char *folder;       /* for checkpoints/ and metrics.jsonl; NULL: nothing is kept */
    const char *options_json; /* an object, kept in checkpoints word for word */
    const char *base_model;   /* what adapters adapt, by name or path; NULL without */
    const struct yk_tokenizer *tokenizer; /* kept in checkpoints; may be NULL */
    struct yk_checkpoint_state state;     /* where to go on; where it stands afterwards */
    /* Afterwards: */
    double first_loss;
    double last_loss;
    double evaluation_loss; /* NAN where there was none */
    double median_step_s;
    double tokens;          /* trained on, without padding */
    double seconds;         /* of all steps together */
    double device_bytes;    /* of a device with memory of its own, the most in use after a step */
    struct yk_trace *trace; /* of this rank's last step; the caller destroys it */
    double traced_s;        /* when that began, on the clock of base/clock.h */
    bool agreed;            /* where it failed, all ranks did */
    /* When ops began and ended in steps of late, by the program that the run ended with; the caller
     * destroys it. */
    struct yk_round_log *log;
};

/* Trains until options.steps, or until `stop` is true: YK_ERROR_STOPPED, saved. Numbers that stay
 * bad end it with YK_ERROR_NUMBERS and the tensor's name. A checkpoint that cannot be written is
 * reported by `saved` and training goes on; one at the very end is an error. */
yk_status yk_run_train(struct yk_run *run) YK_MUST_USE;

/* Mean loss over `run->evaluation` on all ranks of an executor between finished steps. */
yk_status yk_run_evaluate_ranks(struct yk_executor *executor, const struct yk_program *program,
                                const struct yk_run *run, double *out_loss,
                                int64_t *out_tokens) YK_MUST_USE;

/* Memory of the device that may be used for a while. */
struct yk_run_memory {
    void *memory;
    size_t bytes;
};

struct yk_run_evaluation {
    int64_t batch;                    /* samples at a time */
    int64_t samples;                  /* at most so many; 0: all */
    const struct yk_run_memory *loan; /* fewer at a time if it does not hold as many; NULL: none */
    /* A batch ran forward, by the clock of base/clock.h; or NULL. */
    void (*ran)(void *user, double began_s, double done_s);
    void *user;
};

/* Mean loss over a sequential sampler. */
yk_status yk_run_evaluate(struct yk_store *store, const struct yk_sampler *sampler,
                          const struct yk_run_evaluation *evaluation, double *out_loss,
                          int64_t *out_tokens) YK_MUST_USE;

#endif
