#include "job/model_dataset.h"

#include "data/images/image_set.h"
#include "data/instructions.h"
#include "model/config.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    USUAL_PAIR = 32,
    USUAL_MASKED = 128,
    USUAL_INSTRUCTION = 512,
    UNKNOWN_SIZE = 256,
};

static yk_status holds_instructions(const char *path, bool *out)
{
    struct yk_file_list files = {0};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, yk_instruction_files_find(path, arena, &files));
    *out = files.count > 0;
    return YK_OK;
}

yk_status yk_model_dataset_detect_kind(const struct yk_model_config *config, const char *path,
                                       enum yk_dataset_kind *out)
{
    const bool masked = config->bidirectional;
    const bool images = yk_image_set_detect(path);
    bool instructions = false;
    if (yk_model_config_reads_images(config)) {
        *out = YK_DATASET_IMAGES;
        return YK_OK;
    }
    if (images) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s holds images, but %s reads text; a model that reads images is --model "
                       "vit-tiny",
                       path, config->name);
    }
    if (config->encoder_layers > 0) {
        *out = YK_DATASET_SENTENCE_PAIRS;
        return YK_OK;
    }
    YK_TRY(holds_instructions(path, &instructions));
    if (masked && instructions) {
        return yk_fail(YK_ERROR_USAGE, "%s holds instructions; BERT learns from plain text", path);
    }
    *out = masked         ? YK_DATASET_MASKED_TEXT
           : instructions ? YK_DATASET_INSTRUCTIONS
                          : YK_DATASET_TEXT_WINDOWS;
    return YK_OK;
}

void yk_model_dataset_set_pixel_options(const struct yk_image_processor *images,
                                        struct yk_net_options *out)
{
    for (int64_t c = 0; c < images->channels; c++) {
        out->pixel_scale[c] = (float)(images->rescale / images->std[c]);
        out->pixel_shift[c] = (float)(-images->mean[c] / images->std[c]);
    }
}

yk_status yk_model_dataset_match_classes(struct yk_dataset *dataset, const char *path,
                                         const struct yk_model_config *config, const char *model)
{
    char unknown[UNKNOWN_SIZE];
    const int32_t count = yk_dataset_class_count(dataset);
    if (config->labels) {
        (void)snprintf(unknown, sizeof unknown, "%s has no class", model);
        return yk_status_prefix_message(
            yk_dataset_renumber_classes(dataset, config->labels, config->vocabulary, unknown),
            path);
    }
    return count <= config->vocabulary
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s: the data has %" PRId32 " classes, but %s knows %" PRId64, path, count,
                         model, config->vocabulary);
}

int64_t yk_model_dataset_default_sequence_length(enum yk_dataset_kind kind)
{
    static const int64_t usual[] = {
        [YK_DATASET_TEXT_WINDOWS] = 0,
        [YK_DATASET_MASKED_TEXT] = USUAL_MASKED,
        [YK_DATASET_SENTENCE_PAIRS] = USUAL_PAIR,
        [YK_DATASET_INSTRUCTIONS] = USUAL_INSTRUCTION,
        [YK_DATASET_IMAGES] = 0,
    };
    return usual[kind];
}

yk_status yk_model_dataset_check_vocabulary(const struct yk_dataset *dataset, const char *path,
                                            const struct yk_model_config *config)
{
    const int64_t known = yk_model_config_target_vocabulary_size(config);
    int32_t largest = 0;
    YK_TRY(yk_dataset_find_max_token_id(dataset, &largest));
    if (largest < known) {
        return YK_OK;
    }
    if (yk_dataset_tokenizer(dataset)) {
        return yk_fail(YK_ERROR_INPUT,
                       "the tokenizer has %d tokens, but %s knows %" PRId64
                       "; choose a tokenizer or a model that fits the other",
                       (int)largest + 1, config->name, known);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: token %d is outside the vocabulary of %s, which has tokens 0 to %" PRId64
                   "; choose a model or data that fits the other",
                   path, (int)largest, config->name, known - 1);
}

int32_t yk_model_dataset_decoder_start_token(const struct yk_model_config *config,
                                             const struct yk_tokenizer *tokenizer)
{
    const int32_t begin = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_BEGIN);
    const int32_t pad = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_PAD);
    if (config->ids.decoder_start >= 0) {
        return (int32_t)config->ids.decoder_start;
    }
    return begin >= 0 ? begin : pad;
}

static yk_status fail_no_tokenizer(const struct yk_dataset_request *request)
{
    static const char *const asks[][2] = {
        [YK_DATASET_MASKED_TEXT] = {"BERT learns from text that a tokenizer cut into words",
                                    "bert"},
        [YK_DATASET_SENTENCE_PAIRS] = {"pairs of sentences share a tokenizer", "pairs"},
        [YK_DATASET_INSTRUCTIONS] = {" holds instructions, which a tokenizer cuts into tokens",
                                     "llama3"},
    };
    return yk_fail(YK_ERROR_USAGE,
                   "%s%s; name it by --tokenizer, or learn one: yoke tokenize --learn 8000 "
                   "--special %s -o tokenizer.json TEXT…",
                   request->kind == YK_DATASET_INSTRUCTIONS ? request->path : "",
                   asks[request->kind][0], asks[request->kind][1]);
}

static yk_status check_request(const struct yk_dataset_request *request)
{
    if (request->kind == YK_DATASET_SENTENCE_PAIRS && !request->target_path) {
        return yk_fail(YK_ERROR_USAGE,
                       "an encoder–decoder learns from pairs: name the translations of %s by "
                       "--target",
                       request->path);
    }
    if (request->kind != YK_DATASET_SENTENCE_PAIRS && request->target_path) {
        return yk_fail(YK_ERROR_USAGE,
                       "--target goes with an encoder–decoder, such as --model transformer-small");
    }
    if (request->kind == YK_DATASET_IMAGES) {
        return request->packed ? yk_fail(YK_ERROR_USAGE, "--packed goes with instructions (.jsonl, "
                                                         ".json)")
                               : YK_OK;
    }
    if (request->kind != YK_DATASET_TEXT_WINDOWS && !request->tokenizer) {
        return fail_no_tokenizer(request);
    }
    if (request->packed && request->kind != YK_DATASET_INSTRUCTIONS) {
        return yk_fail(YK_ERROR_USAGE, "--packed goes with instructions (.jsonl, .json)");
    }
    if (request->kind == YK_DATASET_SENTENCE_PAIRS && request->start < 0) {
        return yk_fail(YK_ERROR_INPUT, "the tokenizer has neither <s> nor <pad>, with one of which "
                                       "a decoder begins");
    }
    return YK_OK;
}

yk_status yk_model_dataset_open_for_new_model(const struct yk_dataset_request *wanted,
                                              const struct yk_model_config *config,
                                              const struct yk_tokenizer *tokenizer,
                                              struct yk_dataset **out)
{
    struct yk_dataset_request request = *wanted;
    request.tokenizer = tokenizer;
    request.start = tokenizer ? yk_model_dataset_decoder_start_token(config, tokenizer) : -1;
    YK_TRY(check_request(&request));
    return yk_dataset_open(&request, out);
}

yk_status
yk_model_dataset_open_for_trained_model(const struct yk_dataset_request *request,
                                        const struct yk_model_dataset_trained_model *known,
                                        struct yk_dataset **out)
{
    struct yk_dataset *dataset = NULL;
    YK_TRY(yk_model_dataset_open_for_new_model(request, known->config, known->tokenizer, &dataset));
    if (request->kind == YK_DATASET_IMAGES) {
        YK_TRY_OR_CLEAN_UP(
            yk_model_dataset_match_classes(dataset, request->path, known->config, known->model),
            yk_dataset_close(dataset));
        *out = dataset;
        return YK_OK;
    }
    YK_TRY_OR_CLEAN_UP(
        yk_dataset_tokenizer(dataset) && !known->tokenizer
            ? yk_fail(YK_ERROR_INPUT,
                      "%s has no tokenizer: give token shards (.bin) instead of "
                      "text, or a model with its tokenizer.json beside it",
                      known->model)
            : yk_model_dataset_check_vocabulary(dataset, request->path, known->config),
        yk_dataset_close(dataset));
    *out = dataset;
    return YK_OK;
}
