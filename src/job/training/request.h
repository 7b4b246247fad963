/*
 * Train request: what is asked of a training. Its table of options is job/training/options.c. What
 * is not given is 0, NULL or NAN, except where a comment says otherwise. Texts belong to whoever
 * fills the request in, and outlive the job.
 */
#ifndef YK_JOB_TRAINING_REQUEST_H
#define YK_JOB_TRAINING_REQUEST_H

#include "base/arena.h"
#include "base/option.h"
#include "base/status.h"
#include "job/job.h"
#include "job/rank.h"
#include "job/training/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_train_request {
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
    int64_t warmup; /* -1: not given */
    double min_rate;
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
    int64_t ranks; /* processes to start; 0: not given */
    struct yk_rank_choice hand;
    const char *slow;
    const char *wire;   /* how GPUs exchange numbers */
    const char *reduce; /* what 16-bit gradients are summed up as */
    const char *profile;
    double memory_bytes;
    const char *plan;
    int64_t shuffle; /* seed of another program for the plan; 0: the plan's own */
    bool rebalance;
    bool dry_run;

    /* A file of options, and what is printed. */
    const char *config;
    int64_t log_every;
    bool json;
    bool quiet;
    bool counters;

    /* No options: the checkpoint that `resume` goes on from, which yk_train_option_sources() finds;
     * NULL: none. And whom the job reports to; any may be NULL. */
    const char *resumed;
    const struct yk_job *job;
    const struct yk_train_progress *progress;
};

/* The members of the request that people name: options of yoke train, members of run.json. */
extern const struct yk_option_table yk_train_option_table;

/* A member by its option's name, without dashes, and its value as one would type it. Of a flag, the
 * value is "true" or "false". */
struct yk_train_option {
    const char *name;
    const char *value;
};

/* Refuses a name that is no option, offering the nearest, and a value that it cannot have. */
yk_status yk_train_request_check_option(const struct yk_train_option *setting) YK_MUST_USE;

/*
 * Makes a request of options alone, as the command line makes one of its words: presets, then the
 * options of a run that is resumed, of a plan and of a file (job/training/option_sources.h), then
 * these. Later ones win. A name that is no option is an error that suggests the nearest. Values are
 * copied.
 */
yk_status yk_train_request_make(const struct yk_train_option *options, size_t count,
                                struct yk_arena *arena, struct yk_train_request *out) YK_MUST_USE;

#endif
