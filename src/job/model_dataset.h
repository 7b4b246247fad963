/*
 * Model dataset: opens training or evaluation data in the form that a model needs, and checks that
 * its tokens are in the model's vocabulary. An encoder–decoder needs sentence pairs and BERT needs
 * text with masked tokens. A decoder needs text, or instructions if the path contains instruction
 * files (data/instructions.h). A model that reads images needs images. Not thread-safe.
 */
#ifndef YK_JOB_MODEL_DATASET_H
#define YK_JOB_MODEL_DATASET_H

#include "base/status.h"
#include "data/dataset.h"
#include "model/config.h"
#include "nn/net.h"

#include <stdint.h>

/* Determines the kind of the data at `path` for a model. Fails if a folder contains both text and
 * instructions, or if the model cannot learn from this kind of data. */
yk_status yk_model_dataset_detect_kind(const struct yk_model_config *config, const char *path,
                                       enum yk_dataset_kind *out) YK_MUST_USE;

/* Sets how the device makes numbers of pixels. */
void yk_model_dataset_set_pixel_options(const struct yk_image_processor *images,
                                        struct yk_net_options *out);

/* Gives the classes of images the numbers that they have in the model, by their names, before any
 * sampler is used. Fails if the model has no class of this name. Of a model whose classes have no
 * names, the numbers stay, and only their count is checked. `model` is its name in messages. */
yk_status yk_model_dataset_match_classes(struct yk_dataset *dataset, const char *path,
                                         const struct yk_model_config *config,
                                         const char *model) YK_MUST_USE;

/* Returns the default length of a sample, in tokens. Returns 0 for the text of a decoder;
 * yk_workload_from_request() then chooses the length. */
int64_t yk_model_dataset_default_sequence_length(enum yk_dataset_kind kind);

/* Returns the first input token of a decoder. This is decoder_start_token_id of the config. If the
 * config has none, it is the tokenizer's beginning-of-text token, otherwise its padding token.
 * Returns −1 if all three are missing. */
int32_t yk_model_dataset_decoder_start_token(const struct yk_model_config *config,
                                             const struct yk_tokenizer *tokenizer);

/* Opens data for a new model, whose vocabulary is not fixed yet. The caller sets `wanted->kind` to
 * the result of yk_model_dataset_detect_kind(). The function itself sets the tokenizer and the
 * start token in a copy of `wanted`. */
yk_status yk_model_dataset_open_for_new_model(const struct yk_dataset_request *wanted,
                                              const struct yk_model_config *config,
                                              const struct yk_tokenizer *tokenizer,
                                              struct yk_dataset **out) YK_MUST_USE;

/* Fails if the data contains token ids outside the model's vocabulary. */
yk_status yk_model_dataset_check_vocabulary(const struct yk_dataset *dataset, const char *path,
                                            const struct yk_model_config *config) YK_MUST_USE;

/* A trained model, whose vocabulary is fixed. */
struct yk_model_dataset_trained_model {
    const char *model;                    /* name of the model in messages */
    const struct yk_tokenizer *tokenizer; /* NULL means: the model has no tokenizer */
    const struct yk_model_config *config;
};

/* Opens data for a trained model and checks the token ids of the data. Fails if the data is text
 * and the model has no tokenizer: the text would get a character vocabulary, whose token ids have
 * nothing to do with the ids that the model has learned. */
yk_status
yk_model_dataset_open_for_trained_model(const struct yk_dataset_request *request,
                                        const struct yk_model_dataset_trained_model *known,
                                        struct yk_dataset **out) YK_MUST_USE;

#endif
