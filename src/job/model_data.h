/*
 * Model data: opens training or evaluation data in the form that a model needs, and checks it
 * against the model's vocabulary. An encoder–decoder needs sentence pairs and BERT needs text with
 * masked tokens. A decoder needs text, or instructions if data/instruction_files.h finds such
 * files. Not thread-safe.
 */
#ifndef YK_JOB_MODEL_DATA_H
#define YK_JOB_MODEL_DATA_H

#include "base/status.h"
#include "data/dataset.h"
#include "model/config.h"

#include <stdint.h>

/* Determines the kind of the data at `path` for a model. Fails if a folder holds both text and
 * instructions, or if the model cannot learn from that kind. */
yk_status yk_model_data_detect_kind(const struct yk_model_config *config, const char *path,
                                    enum yk_dataset_kind *out) YK_MUST_USE;

/* Default length of a sample in tokens; 0 means: use the maximum of the model. */
int64_t yk_model_data_default_sequence_length(enum yk_dataset_kind kind);

/* The first input token of a decoder: decoder_start_token_id of the config, else the tokenizer's
 * beginning-of-text token, else its padding token; −1 if there is none of these. */
int32_t yk_model_data_decoder_start_token(const struct yk_model_config *config,
                                          const struct yk_tokenizer *tokenizer);

/* Opens data for a new model, whose vocabulary is not fixed yet. The caller sets `wanted->kind` to
 * the result of yk_model_data_detect_kind(); tokenizer and start token are set here. */
yk_status yk_model_data_open_for_new_model(const struct yk_dataset_request *wanted,
                                           const struct yk_model_config *config,
                                           const struct yk_tokenizer *tokenizer,
                                           struct yk_dataset **out) YK_MUST_USE;

/* Fails if the data contains token ids outside the model's vocabulary. */
yk_status yk_model_data_check_vocabulary(const struct yk_dataset *dataset, const char *path,
                                         const struct yk_model_config *config) YK_MUST_USE;

/* A trained model, whose vocabulary is fixed. */
struct yk_model_data_trained_model {
    const char *model;                    /* its name in messages */
    const struct yk_tokenizer *tokenizer; /* NULL: it was trained on token shards */
    const struct yk_model_config *config;
};

/* Opens data for a trained model and checks its token ids. Fails for text if the model has no
 * tokenizer: the ids of a character vocabulary would not be those that the model has learned. */
yk_status yk_model_data_open_for_trained_model(const struct yk_dataset_request *request,
                                               const struct yk_model_data_trained_model *known,
                                               struct yk_dataset **out) YK_MUST_USE;

#endif
