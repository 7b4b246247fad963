/*
 * Model data: data opened as what a model learns from, and checked against its vocabulary: pairs of
 * sentences for an encoder–decoder, text with tokens masked for BERT, else text or, where
 * data/instruction_files.h finds some, instructions. One thread at a time.
 */
#ifndef YK_JOB_MODEL_DATA_H
#define YK_JOB_MODEL_DATA_H

#include "base/status.h"
#include "data/dataset.h"
#include "model/config.h"

#include <stdint.h>

/* What the data at `path` is to a model: the one place that tells instructions from text. Fails
 * where a folder holds both, and where they are nothing to the model. */
yk_status yk_model_data_kind(const struct yk_model_config *config, const char *path,
                             enum yk_dataset_kind *out) YK_MUST_USE;

/* Length of a sample of such data where nobody says it; 0: what the model can take. */
int64_t yk_model_data_default_sequence(enum yk_dataset_kind kind);

/* What a decoder is given first: what the config says, else what begins texts, else the padding;
 * −1: nothing of that. */
int32_t yk_model_data_start_token(const struct yk_model_config *config,
                                  const struct yk_tokenizer *tokenizer);

/* Opens data for a model whose tokens have no meaning yet. The request's kind is that of
 * yk_model_data_kind(); its tokenizer and start are filled in. */
yk_status yk_model_data_open_new(const struct yk_dataset_request *wanted,
                                 const struct yk_model_config *config,
                                 const struct yk_tokenizer *tokenizer,
                                 struct yk_dataset **out) YK_MUST_USE;

/* Fails where the data holds tokens that the model does not have. */
yk_status yk_model_data_check(const struct yk_dataset *dataset, const char *path,
                              const struct yk_model_config *config) YK_MUST_USE;

/* A model whose tokens have a meaning already. */
struct yk_model_data_model {
    const char *model;                    /* what the user knows it by */
    const struct yk_tokenizer *tokenizer; /* NULL: its tokens are shards' */
    const struct yk_model_config *config;
};

/* Opens data whose tokens are all known to the model. Text is refused where the model has no
 * tokenizer: ids by character would mean something else to it. */
yk_status yk_model_data_open(const struct yk_dataset_request *request,
                             const struct yk_model_data_model *known,
                             struct yk_dataset **out) YK_MUST_USE;

#endif
