/*
 * Train inputs: the model config, the tokenizer and the data of a training run, matched to each
 * other. The vocabulary of a new model is that of its tokenizer, or the set of characters of its
 * text. Weights and checkpoints have a fixed vocabulary, and the data must stay within it.
 */
#ifndef YK_JOB_TRAINING_INPUTS_H
#define YK_JOB_TRAINING_INPUTS_H

#include "data/dataset.h"
#include "job/training/request.h"
#include "model/config.h"
#include "plan/plan.h"
#include "train/checkpoint/checkpoint.h"

/* Starts as {0}. Owns everything but the config. */
struct yk_train_inputs {
    const struct yk_model_config *config; /* built-in, in the arena, or owned by the checkpoint */
    const struct yk_tokenizer *tokenizer; /* NULL: the data is token shards */
    struct yk_tokenizer *own_tokenizer;   /* the tokenizer, if opened here; else NULL */
    const char *data;                     /* path */
    enum yk_dataset_kind kind;            /* kind of `data` */
    struct yk_dataset *dataset;
    struct yk_dataset *evaluation_dataset; /* --eval-data; NULL: evaluate on a part of `dataset` */
    struct yk_sampler *samples;            /* training samples */
    struct yk_sampler *evaluation;         /* evaluation samples; NULL: no evaluation */
};

/* Opens config, tokenizer and datasets. `checkpoint` is the one to resume from; NULL: a new run. */
yk_status yk_train_inputs_open(const struct yk_train_request *request,
                               const struct yk_checkpoint *checkpoint, struct yk_arena *arena,
                               struct yk_train_inputs *out) YK_MUST_USE;

/* The folder of --weights, where their config.json is expected. The weights must exist. */
yk_status yk_train_inputs_weights_folder(const struct yk_train_request *request,
                                         struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Opens the samplers. Needs the plan's number of micro-batches. */
yk_status yk_train_inputs_open_samplers(struct yk_train_inputs *inputs,
                                        const struct yk_train_request *request,
                                        const struct yk_workload *workload,
                                        int32_t micro_batches) YK_MUST_USE;

void yk_train_inputs_close(struct yk_train_inputs *inputs);

#endif
