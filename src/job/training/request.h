/*
 * Train request: all options of a training run, and the job that runs it. The option table in
 * job/training/options.c describes each option. A member that is not given is 0, NULL or NAN,
 * unless a comment says otherwise. Strings belong to the caller and must outlive the job.
 */
#ifndef YK_JOB_TRAINING_REQUEST_H
#define YK_JOB_TRAINING_REQUEST_H

#include "base/arena.h"
#include "base/option.h"
#include "base/status.h"
#include "job/chat_options.h"
#include "job/job.h"
#include "job/rank.h"
#include "job/training/result.h"
#include "train/training_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- progress: callbacks with which a training run reports its progress ----
 *
 * Only rank 0 calls them, on the thread that trains, unless a comment says otherwise. Each callback
 * may be NULL. The structs that a callback receives, and everything they point to, are valid until
 * the callback returns.
 */

enum yk_train_job_phase {
    YK_TRAIN_JOB_PHASE_PLANNING, /* searches for a plan; a stop ends the search early */
    YK_TRAIN_JOB_PHASE_TRAINING, /* trains; a stop saves a checkpoint and ends the run */
};

/* Describes the run before its first step. */
struct yk_train_start_report {
    const struct yk_train_result *predicted; /* result in which only the predictions are set */
    int64_t vocabulary;                      /* number of tokens in the vocabulary, or of classes */
    const char *data;                        /* description of the dataset */
    int64_t epoch_units; /* samples per epoch; for sentence pairs: micro-batches per epoch */
    /* For sentence pairs: maximum number of tokens per language in a micro-batch; otherwise 0. */
    int64_t batch_rows;
    const char *plan;    /* one-line summary of the plan */
    const char *resumed; /* checkpoint to resume from; NULL means: a new run */
    int64_t steps_done;  /* steps up to this checkpoint; 0 for a new run */
};

/* Describes a finished step. */
struct yk_train_step_report {
    const struct yk_step_metrics *metrics;
    const struct yk_throughput_unit *unit; /* what metrics->tokens_per_s counts */
    bool scaled;                           /* the loss is scaled, because the precision is fp16 */
    double mfu;          /* model FLOPS utilisation, 0 to 1: yk_mfu.formula (planner/planner.h) */
    double exact_mfu;    /* counts attention exactly: yk_mfu.exact */
    double memory_bytes; /* current memory of this process */
    double predicted_s;  /* predicted time of a step */
    double remaining_s;  /* time until the end of the run, estimated from recent steps */
    int32_t slowest; /* rank with the longest compute time; -1 means: only one rank, or not known */
    double slowest_compute_fraction; /* compute time of rank `slowest` / step time */
};

struct yk_train_evaluation_report {
    int64_t step;
    double loss;
    int64_t tokens;  /* number of predicted tokens, or of classified images */
    double accuracy; /* of a classifier: fraction whose class is the first; otherwise NAN */
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

/* ---- request ---- */

struct yk_train_request {
    /* Model and data. */
    const char *model;
    const char *weights;
    const char *adapter;
    const char *data;
    const char *target; /* for sentence pairs: path of the translations */
    const char *tokenizer;
    struct yk_chat_options chat;
    double data_fraction;
    double eval_fraction;
    const char *eval_data;
    const char *eval_target;
    const char *faulty;
    const char *augment; /* random changes of images (data/images/image_processor.h) */

    /* The workload. */
    int64_t steps;
    double epochs;
    int64_t batch;
    int64_t batch_tokens; /* tokens per step; replaces `batch` */
    int64_t sequence;
    int64_t max_sentence_tokens; /* for sentence pairs: maximum number of tokens of a sentence */
    int64_t micro_batches;
    const char *precision;
    int64_t lora_rank;
    double lora_alpha;
    bool nf4;
    bool recompute;
    bool packed; /* pack several instructions into one sample */
    double dropout;
    double label_smoothing;

    /* The optimizer. */
    const char *optimizer;
    double lr;
    const char *lr_schedule;
    int64_t warmup; /* -1 means: not given */
    double min_lr;
    double beta1;
    double beta2;
    double epsilon;
    double weight_decay;
    double momentum;
    double clip; /* maximum gradient norm; 0 means: no clipping */
    int64_t seed;

    /* The run. */
    const char *out;
    bool resume;
    int64_t eval_every; /* 0 means: only after the last step */
    int64_t eval_samples;
    int64_t save_every; /* 0 means: only after the last step */
    int64_t keep;       /* number of checkpoints to keep; 0 means: save none */

    /* Devices and plan. */
    const char *device;
    const char *cluster;
    int64_t threads;
    const char *attention; /* kind of attention kernels on GPUs */
    const char *qkv;
    const char *graphs;
    int64_t ranks;                       /* number of processes to start; 0 means: not given */
    struct yk_rank_options rank_options; /* --rank, --world, --master */
    const char *slow;
    const char *wire;   /* transport between GPUs */
    const char *reduce; /* precision in which 16-bit gradients are summed */
    const char *profile;
    double memory_bytes;
    const char *plan;
    int64_t shuffle; /* for tests: seed of a random valid op order; 0 means: order of the plan */
    bool rebalance;
    bool dry_run;

    /* The option file, and what is printed. */
    const char *config;
    int64_t log_every;
    bool json;
    bool quiet;
    bool counters;

    /* These members are not options. `resumed` is the path of the checkpoint to resume from, which
     * yk_train_request_read_option_sources() sets. `job` and `progress` may be NULL. */
    const char *resumed;
    const struct yk_job_callbacks *job;
    const struct yk_train_progress_callbacks *progress;
};

/* The option table: the options of `yoke train`, which are also the members of run.json. */
extern const struct yk_option_table yk_train_option_table;

/* The name of an option without dashes, and its value as it would be typed on the command line. The
 * value of a flag is "true" or "false". */
struct yk_train_option {
    const char *name;
    const char *value;
};

/* Fails if no option has this name, or if the value is not valid. For an unknown name, the message
 * suggests the most similar name. */
yk_status yk_train_request_check_option(const struct yk_train_option *option) YK_MUST_USE;

/*
 * Reads the option sources of a request: the resumed run, the workload of the plan, and the file of
 * --config. Options that are not given on the command line come from these sources. Allocates the
 * sources in the arena. Sets request->resumed.
 */
yk_status yk_train_request_read_option_sources(struct yk_train_request *request,
                                               struct yk_arena *arena,
                                               struct yk_option_files *out) YK_MUST_USE;

/* Checks the options that must not change when a run is resumed. Fails if one of them differs from
 * its value in `options_json`, which contains the options that the run has saved. `source` is the
 * path of the file with these options, for messages. */
yk_status yk_train_request_check_resume_options(const struct yk_train_request *request,
                                                const char *options_json,
                                                const char *source) YK_MUST_USE;

/*
 * Makes a request from a list of options. First sets the defaults, then the values of the option
 * sources (yk_train_request_read_option_sources()), then `options`. A later value replaces an
 * earlier value. Values are copied into the arena. Fails in the same cases as
 * yk_train_request_check_option().
 */
yk_status yk_train_request_from_options(const struct yk_train_option *options, size_t count,
                                        struct yk_arena *arena,
                                        struct yk_train_request *out) YK_MUST_USE;

/*
 * ---- train: trains a model as the request says ----
 *
 * Writes checkpoints, metrics and a trace to the run folder. With several ranks, each rank is a
 * process that runs this job with the same request and gets the same status (cluster/launcher.h). A
 * process may run only one training run at a time.
 */

/* Fails if options of the request contradict each other. */
yk_status yk_train_check_request(const struct yk_train_request *request) YK_MUST_USE;

/*
 * Trains until the last step. If the job is asked to stop, saves a checkpoint and fails with
 * YK_ERROR_STOPPED. A dry run only makes the plan. `out` must be {0} before the call, and the
 * caller must free it even if the function fails. `out` also contains a result if the function
 * fails with YK_ERROR_STOPPED, if a dry run fails with YK_ERROR_NO_FIT, or if a file of the run
 * could not be written.
 *
 * This function does not start ranks. The caller first asks yk_rank_must_start_ranks() whether the
 * ranks must be started, and if so, calls yk_rank_launch_run() instead (job/rank.h).
 */
yk_status yk_train_run(const struct yk_train_request *request,
                       struct yk_train_result *out) YK_MUST_USE;

#endif
