/*
 * Train source: what is trained and on what: the model's config, the tokenizer and the data, made
 * to fit each other. The model of a new run gets as many tokens as its tokenizer has, or as its
 * text has characters; weights and checkpoints have a vocabulary already, which the data must be
 * within.
 */
#ifndef YK_JOB_TRAINING_SOURCE_H
#define YK_JOB_TRAINING_SOURCE_H

#include "data/dataset.h"
#include "job/training/request.h"
#include "model/config.h"
#include "plan/plan.h"
#include "train/checkpoint/checkpoint.h"

/* Starts as {0}. Owns all but the config. */
struct yk_train_source {
    const struct yk_model_config *config; /* built-in, in the arena, or the checkpoint's */
    const struct yk_tokenizer *tokenizer; /* of the text; NULL: shards */
    struct yk_tokenizer *own;             /* opened here; NULL: it belongs to another */
    const char *data;                     /* the path */
    enum yk_dataset_kind kind;            /* of that */
    struct yk_dataset *dataset;
    struct yk_dataset *other; /* to evaluate on; NULL: a part of the dataset is */
    struct yk_sampler *samples;
    struct yk_sampler *evaluation; /* NULL: no data is kept for it */
};

/* `checkpoint` is that of the run to go on with, or NULL. */
yk_status yk_train_source_open(const struct yk_train_request *request,
                               const struct yk_checkpoint *checkpoint, struct yk_arena *arena,
                               struct yk_train_source *out) YK_MUST_USE;

/* The folder that --weights, which are there, lie in: where their config.json would be. */
yk_status yk_train_source_weights_folder(const struct yk_train_request *request,
                                         struct yk_arena *arena, const char **out) YK_MUST_USE;

/* The samples of the data, once it is planned how much a micro-batch holds. */
yk_status yk_train_source_open_samplers(struct yk_train_source *source,
                                        const struct yk_train_request *request,
                                        const struct yk_workload *workload,
                                        int32_t micro_batches) YK_MUST_USE;

void yk_train_source_close(struct yk_train_source *source);

#endif
