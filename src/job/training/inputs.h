/*
 * Train inputs: the model config, the tokenizer and the data of a training run. They must match. A
 * new model gets the vocabulary of the tokenizer. Without a tokenizer, the vocabulary of a new
 * model is the set of characters of the text. Existing weights and checkpoints have a fixed
 * vocabulary, and the data may contain only tokens of this vocabulary. A new model that reads
 * images gets the classes of the data. Weights that were trained for other classes get a new head.
 */
#ifndef YK_JOB_TRAINING_INPUTS_H
#define YK_JOB_TRAINING_INPUTS_H

#include "data/dataset.h"
#include "job/training/request.h"
#include "model/config.h"
#include "plan/plan.h"
#include "train/checkpoint/checkpoint.h"

/* Starts as {0}. Owns what it points to, except `config` and `tokenizer`. */
struct yk_train_inputs {
    const struct yk_model_config *config; /* built-in, in the arena, or owned by the checkpoint */
    const struct yk_tokenizer *tokenizer; /* NULL means: the data consists of token shards */
    struct yk_tokenizer *own_tokenizer;   /* `tokenizer` if this struct owns it, otherwise NULL */
    struct yk_image_processor images;     /* of a model that reads images */
    struct yk_json *chat_variables;       /* variables of the chat template, or NULL */
    const char *data;                     /* path of the training data */
    enum yk_dataset_kind kind;            /* kind of `data` */
    struct yk_dataset *dataset;
    /* Data of --eval-data; NULL means: use a part of `dataset`. */
    struct yk_dataset *evaluation_dataset;
    struct yk_sampler *samples;    /* training samples */
    struct yk_sampler *evaluation; /* evaluation samples; NULL means: no evaluation */
};

/* Opens the config, the tokenizer and the datasets. `checkpoint` is the checkpoint to resume from;
 * NULL means: a new run. */
yk_status yk_train_inputs_open(const struct yk_train_request *request,
                               const struct yk_checkpoint *checkpoint, struct yk_arena *arena,
                               struct yk_train_inputs *out) YK_MUST_USE;

/* Sets `*out` to the folder of the weights: the value of --weights if it is a folder, otherwise the
 * folder that contains the file. The config.json of the weights is expected there. */
yk_status yk_train_inputs_find_weights_folder(const struct yk_train_request *request,
                                              struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Opens the samplers. `micro_batches` is the number of micro-batches of the plan. */
yk_status yk_train_inputs_open_samplers(struct yk_train_inputs *inputs,
                                        const struct yk_train_request *request,
                                        const struct yk_workload *workload,
                                        int32_t micro_batches) YK_MUST_USE;

void yk_train_inputs_close(struct yk_train_inputs *inputs);

#endif
