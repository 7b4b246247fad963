/*
 * Train: the words of `yoke train`, and the parts of the command that read them.
 *
 * The command is job/training/train.c, its table of options job/training/options.c. What the words
 * do not say is 0, NULL, or NAN, except where a comment says otherwise.
 */
#ifndef YK_JOB_TRAINING_TRAIN_H
#define YK_JOB_TRAINING_TRAIN_H

#include "base/arena.h"
#include "base/option.h"
#include "base/option_layers.h"
#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "job/launch.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_train_words {
    /* What to train, on what. */
    const char *model;
    const char *weights;
    const char *adapter;
    const char *data;
    const char *target; /* of pairs: the translations */
    const char *tokenizer;
    double data_part;
    double eval_part;
    const char *eval_data;
    const char *eval_target;
    const char *faulty;

    /* The workload. */
    int64_t steps;
    double epochs;
    int64_t batch;
    int64_t batch_tokens; /* instead of the batch */
    int64_t sequence;
    int64_t longest; /* of pairs: tokens of a sentence */
    int64_t micro_batches;
    const char *precision;
    int64_t lora_rank;
    double lora_alpha;
    bool nf4;
    bool recompute;
    bool packed; /* instructions */
    double dropout;
    double label_smoothing;

    /* The optimizer. */
    const char *optimizer;
    double rate;
    const char *rate_rule;
    int64_t warmup; /* -1: not said */
    double least_rate;
    double beta1;
    double beta2;
    double epsilon;
    double decay;
    double momentum;
    double clip; /* 0: none */
    int64_t seed;

    /* The run. */
    const char *out;
    bool resume;
    int64_t eval_every; /* 0: only after the last step */
    int64_t eval_samples;
    int64_t save_every; /* 0: only after the last step */
    int64_t keep;

    /* Devices and plan. */
    const char *device;
    const char *cluster;
    int64_t threads;
    const char *attention; /* of a GPU */
    const char *qkv;
    const char *graphs;
    int64_t ranks; /* processes to start; 0: not said */
    struct yk_launch_words hand;
    const char *slow;
    const char *wire;   /* how GPUs exchange numbers */
    const char *reduce; /* what 16-bit gradients are summed up as */
    const char *profile;
    double memory_bytes;
    const char *plan;
    int64_t shuffle; /* seed of another program for the plan; 0: the plan's own */
    bool rebalance;
    bool dry_run;

    /* Words from a file, and what is printed. */
    const char *config;
    int64_t log_every;
    bool json;
    bool quiet;
    bool counters;

    /* No options: the checkpoint that --resume goes on from; NULL: none. */
    const char *resumed;
    const struct yk_job *job;
};

/* The members of the request that people name: options of yoke train, settings of run.json. */
extern const struct yk_option_table yk_train_options;

yk_status yk_train_run(const void *given, struct yk_text *out) YK_MUST_USE;

/* What lies under the words: the settings of the run that is resumed, the workload of --plan, the
 * file of --config. */
yk_status yk_train_layers(void *given, struct yk_arena *arena,
                          struct yk_option_layers *out) YK_MUST_USE;

/* Refuses settings that are not those of the run that `settings_json` was kept from, where a run
 * cannot go on with others. `source` is where they were kept. */
yk_status yk_train_check_resumed(const struct yk_train_words *words, const char *settings_json,
                                 const char *source) YK_MUST_USE;

/* The folder of the run: --out, or runs/MODEL. In the arena. */
yk_status yk_train_folder(const struct yk_train_words *words, struct yk_arena *arena,
                          const char **out) YK_MUST_USE;

/* "PATH/name" in the arena. */
yk_status yk_train_path(const char *folder, const char *name, struct yk_arena *arena,
                        const char **out) YK_MUST_USE;

#endif
