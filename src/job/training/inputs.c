#include "job/training/inputs.h"

#include "base/folder.h"
#include "base/log.h"
#include "job/model_dataset.h"
#include "model/builtin.h"
#include "tokenizer/formats/tokenizer_files.h"

#include <string.h>

#define USUAL_MODEL "gpt-mini"

yk_status yk_train_inputs_find_weights_folder(const struct yk_train_request *request,
                                              struct yk_arena *arena, const char **out)
{
    const char *end = strrchr(request->weights, '/');
    *out = request->weights;
    if (!yk_folder_exists(request->weights)) {
        const size_t length = !end                      ? 0
                              : end == request->weights ? 1
                                                        : (size_t)(end - request->weights);
        *out = end ? yk_arena_copy_text(arena, request->weights, length) : ".";
    }
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static yk_status open_config(const struct yk_train_request *request, struct yk_arena *arena,
                             const struct yk_model_config **out)
{
    const char *word = request->model ? request->model : USUAL_MODEL;
    if (!request->model && request->weights) {
        YK_TRY(yk_train_inputs_find_weights_folder(request, arena, &word));
    }
    if (yk_folder_exists(word) && yk_folder_contains(word, "config.json")) {
        YK_TRY(yk_folder_join_path(word, "config.json", arena, &word));
    }
    return yk_model_config_open(word, arena, out);
}

/* Whether an id is that of a special token whose name tells of no role, such as <|im_end|>. */
static bool is_free_special_id(const struct yk_tokenizer *tokenizer, int64_t id)
{
    bool free = id >= 0 && id <= INT32_MAX && yk_tokenizer_is_special_id(tokenizer, (int32_t)id);
    for (enum yk_token_role role = 0; role < YK_TOKEN_ROLE_COUNT; role++) {
        free = free && yk_tokenizer_find_role_id(tokenizer, role) != id;
    }
    return free;
}

/* The tokenizer's id of a special token, if it has one and the config does not name one that may
 * well have this role; else `before`. */
static int64_t fit_id(const struct yk_tokenizer *tokenizer, enum yk_token_role role, int64_t before)
{
    const int32_t id = yk_tokenizer_find_role_id(tokenizer, role);
    return id >= 0 && !is_free_special_id(tokenizer, before) ? id : before;
}

/* Fits the ids of special tokens to the tokenizer, so that sentences end in the data as they will
 * end in translations. The decoder's start token remains the choice of the model. */
static void set_special_ids(const struct yk_tokenizer *tokenizer, struct yk_model_config *config)
{
    struct yk_special_token_ids *ids = &config->ids;
    ids->pad = fit_id(tokenizer, YK_TOKEN_PAD, ids->pad);
    ids->begin = fit_id(tokenizer, YK_TOKEN_BEGIN, ids->begin);
    ids->end = fit_id(tokenizer, YK_TOKEN_END, ids->end);
    if (config->encoder_layers > 0) {
        ids->decoder_start = yk_model_dataset_decoder_start_token(config, tokenizer);
    }
}

/* Replaces the config by a copy with the special tokens of the tokenizer and, unless
 * `keeps_vocabulary`, with its vocabulary. */
static yk_status fit_config(const struct yk_tokenizer *tokenizer, bool keeps_vocabulary,
                            struct yk_arena *arena, const struct yk_model_config **config)
{
    struct yk_model_config *fitted = NULL;
    YK_TRY_NEW(arena, fitted, 1);
    *fitted = **config;
    if (!keeps_vocabulary) {
        fitted->vocabulary = yk_tokenizer_vocabulary_size(tokenizer);
        fitted->target_vocabulary = 0;
        /* Ids of another vocabulary mean nothing, except the choice of the decoder's start. */
        fitted->ids = (struct yk_special_token_ids){
            .pad = -1, .begin = -1, .end = -1, .decoder_start = (*config)->ids.decoder_start};
    }
    set_special_ids(tokenizer, fitted);
    *config = fitted;
    return YK_OK;
}

/* Fits the config of a new model. A config file may have a larger vocabulary than the tokenizer. */
static yk_status fit_new_model(const struct yk_tokenizer *tokenizer, bool written,
                               struct yk_arena *arena, const struct yk_model_config **config)
{
    const bool by_character = yk_tokenizer_get_character_vocabulary(tokenizer) != NULL;
    return fit_config(tokenizer, written && !by_character, arena, config);
}

/* Sets `*out` to whether the config comes from a file and is not a built-in one. */
static yk_status is_written(const struct yk_model_config *config, bool *out)
{
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    *out = true;
    YK_TRY(yk_builtin_models_get(&models, &count));
    for (size_t i = 0; i < count; i++) {
        *out = *out && models[i].config != config;
    }
    return YK_OK;
}

/* Maximum tokens of a sentence: it must fit into a micro-batch and into the model's positions. */
static int64_t longest_pair(const struct yk_train_request *request,
                            const struct yk_model_config *config, int64_t sequence)
{
    const int64_t micro_batches = request->micro_batches > 0 ? request->micro_batches : 1;
    const int64_t samples =
        request->batch_tokens > 0 ? request->batch_tokens / sequence : request->batch;
    const int64_t rows = samples / micro_batches * sequence;
    const int64_t most = rows > 1 && rows < config->positions ? rows : config->positions;
    return request->max_sentence_tokens > 0 && request->max_sentence_tokens < most
               ? request->max_sentence_tokens
               : most;
}

static yk_status request_data(const struct yk_train_request *request, const char *path,
                              const struct yk_train_inputs *inputs, struct yk_dataset_request *out)
{
    const struct yk_model_config *config = inputs->config;
    enum yk_dataset_kind kind = YK_DATASET_TEXT_WINDOWS;
    YK_TRY(yk_model_dataset_detect_kind(config, path, &kind));
    const int64_t usual = yk_model_dataset_default_sequence_length(kind);
    const int64_t sequence = request->sequence > 0 ? request->sequence : usual;
    *out = (struct yk_dataset_request){
        .kind = kind,
        .path = path,
        .target_path = request->target,
        .part = request->data_fraction,
        .held_out = request->eval_data ? 0 : request->eval_fraction,
        .longest =
            kind == YK_DATASET_SENTENCE_PAIRS ? longest_pair(request, config, sequence) : sequence,
        .skip_faulty = strcmp(request->faulty, "skip") == 0,
        .chat_variables = inputs->chat_variables,
        .packed = request->packed,
        .images = &inputs->images,
    };
    return YK_OK;
}

/* ---- images ---- */

/* Reads how images are made ready, from the folder of the weights or of the model, or the
 * checkpoint's. */
static yk_status open_image_processor(const struct yk_train_request *request,
                                      const struct yk_checkpoint *checkpoint,
                                      struct yk_arena *arena, struct yk_train_inputs *out)
{
    const struct yk_image_shape *image = &out->config->image;
    const char *folder = request->model;
    if (!yk_model_config_reads_images(out->config)) {
        return request->augment ? yk_fail(YK_ERROR_USAGE, "--augment goes with images") : YK_OK;
    }
    if (request->tokenizer) {
        return yk_fail(YK_ERROR_USAGE, "%s reads images; leave out --tokenizer", out->config->name);
    }
    out->images = yk_image_processor_make(image->channels, image->height, image->width);
    if (checkpoint) {
        out->images = checkpoint->images;
    } else if (request->weights) {
        YK_TRY(yk_train_inputs_find_weights_folder(request, arena, &folder));
    }
    if (!checkpoint && folder && yk_folder_exists(folder)) {
        YK_TRY(yk_image_processor_read_folder(folder, &out->images));
    }
    return request->augment
               ? yk_image_processor_parse_augmentation(request->augment, &out->images.augmentation)
               : YK_OK;
}

/* Whether the model's classes are those of the data, which then have the model's numbers. */
static bool has_classes(const struct yk_model_config *config, struct yk_dataset *dataset)
{
    return yk_dataset_class_count(dataset) == config->vocabulary &&
           yk_model_dataset_match_classes(dataset, "", config, "") == YK_OK;
}

/* Replaces the config by a copy with the classes of the data. */
static yk_status set_classes(const struct yk_dataset *dataset, bool new_head,
                             struct yk_arena *arena, const struct yk_model_config **config)
{
    const int32_t count = yk_dataset_class_count(dataset);
    struct yk_model_config *fitted = NULL;
    const char **labels = NULL;
    YK_TRY_NEW(arena, fitted, 1);
    YK_TRY_NEW(arena, labels, count);
    for (int32_t i = 0; i < count; i++) {
        YK_TRY(yk_arena_strdup(arena, yk_dataset_class_name(dataset, i), &labels[i]));
    }
    *fitted = **config;
    fitted->vocabulary = count;
    fitted->labels = labels;
    fitted->new_head = fitted->new_head || new_head;
    *config = fitted;
    return YK_OK;
}

static yk_status open_new_images(const struct yk_train_request *request, struct yk_arena *arena,
                                 struct yk_train_inputs *out)
{
    struct yk_dataset_request wanted;
    YK_TRY(request_data(request, out->data, out, &wanted));
    out->kind = wanted.kind;
    YK_TRY(yk_model_dataset_open_for_new_model(&wanted, out->config, NULL, &out->dataset));
    const bool known = has_classes(out->config, out->dataset);
    if (known && out->config->labels) {
        return YK_OK;
    }
    if (request->weights && !known) {
        yk_log(YK_LOG_NOTE, "%s was trained for %lld other classes: its head starts anew",
               request->weights, (long long)out->config->vocabulary);
    }
    const bool same_count = yk_dataset_class_count(out->dataset) == out->config->vocabulary;
    return set_classes(out->dataset, request->weights && !(same_count && !out->config->labels),
                       arena, &out->config);
}

/* Opens the tokenizer of --tokenizer, else the one next to --weights. */
static yk_status open_tokenizer(const struct yk_train_request *request, struct yk_arena *arena,
                                struct yk_train_inputs *out)
{
    const char *path = request->tokenizer;
    if (!path && request->weights) {
        YK_TRY(yk_train_inputs_find_weights_folder(request, arena, &path));
        path = yk_tokenizer_files_find(path) ? path : NULL;
    }
    if (path) {
        YK_TRY(yk_tokenizer_open(path, &out->own_tokenizer));
        out->tokenizer = out->own_tokenizer;
    }
    return yk_chat_options_apply_template(&request->chat, out->own_tokenizer);
}

static yk_status open_new(const struct yk_train_request *request, struct yk_arena *arena,
                          struct yk_train_inputs *out)
{
    YK_TRY(open_config(request, arena, &out->config));
    if (request->max_sentence_tokens > 0 && out->config->encoder_layers == 0) {
        return yk_fail(YK_ERROR_USAGE, "--longest goes with pairs of sentences; see --seq");
    }
    YK_TRY(open_image_processor(request, NULL, arena, out));
    if (yk_model_config_reads_images(out->config)) {
        return open_new_images(request, arena, out);
    }
    YK_TRY(open_tokenizer(request, arena, out));
    bool written = false;
    YK_TRY(is_written(out->config, &written));
    if (out->tokenizer && !request->weights) {
        YK_TRY(fit_new_model(out->tokenizer, written, arena, &out->config));
    } else if (out->tokenizer && out->config->encoder_layers > 0) {
        YK_TRY(fit_config(out->tokenizer, true, arena, &out->config));
    }
    struct yk_dataset_request wanted;
    YK_TRY(request_data(request, out->data, out, &wanted));
    out->kind = wanted.kind;
    if (request->weights || out->tokenizer) {
        const char *model = request->weights ? request->weights : out->config->name;
        const struct yk_model_dataset_trained_model known = {model, out->tokenizer, out->config};
        return yk_model_dataset_open_for_trained_model(&wanted, &known, &out->dataset);
    }
    YK_TRY(yk_model_dataset_open_for_new_model(&wanted, out->config, NULL, &out->dataset));
    out->tokenizer = yk_dataset_tokenizer(out->dataset);
    return out->tokenizer ? fit_new_model(out->tokenizer, written, arena, &out->config)
                          : yk_model_dataset_check_vocabulary(out->dataset, out->data, out->config);
}

static yk_status open_evaluation_data(const struct yk_train_request *request,
                                      struct yk_train_inputs *out)
{
    struct yk_dataset_request wanted;
    const struct yk_model_dataset_trained_model known = {out->config->name, out->tokenizer,
                                                         out->config};
    if (request->target && !request->eval_target) {
        return yk_fail(YK_ERROR_USAGE, "name the translations of %s by --eval-target",
                       request->eval_data);
    }
    YK_TRY(request_data(request, request->eval_data, out, &wanted));
    wanted.target_path = request->eval_target;
    wanted.part = 1;
    return yk_model_dataset_open_for_trained_model(&wanted, &known, &out->evaluation_dataset);
}

yk_status yk_train_inputs_open(const struct yk_train_request *request,
                               const struct yk_checkpoint *checkpoint, struct yk_arena *arena,
                               struct yk_train_inputs *out)
{
    struct yk_dataset_request wanted;
    if (!request->data) {
        return yk_fail(YK_ERROR_USAGE,
                       "there is nothing to train on: name a text, a folder of texts, token shards "
                       "(.bin), instructions (.jsonl, .json) or images by --data");
    }
    out->data = request->data;
    YK_TRY(yk_chat_options_read_variables(&request->chat, &out->chat_variables));
    if (checkpoint) {
        out->config = checkpoint->config;
        out->tokenizer = checkpoint->tokenizer;
        YK_TRY(yk_chat_options_apply_template(&request->chat, checkpoint->tokenizer));
        YK_TRY(open_image_processor(request, checkpoint, arena, out));
        YK_TRY(request_data(request, out->data, out, &wanted));
        out->kind = wanted.kind;
        const struct yk_model_dataset_trained_model known = {checkpoint->path, out->tokenizer,
                                                             out->config};
        YK_TRY(yk_model_dataset_open_for_trained_model(&wanted, &known, &out->dataset));
    } else {
        YK_TRY(open_new(request, arena, out));
    }
    return request->eval_data ? open_evaluation_data(request, out) : YK_OK;
}

yk_status yk_train_inputs_open_samplers(struct yk_train_inputs *inputs,
                                        const struct yk_train_request *request,
                                        const struct yk_workload *workload, int32_t micro_batches)
{
    const struct yk_sampler_options cut = {
        .sequence = workload->sequence,
        .slice_rows = workload->batch / micro_batches * workload->sequence,
        .seed = (uint64_t)request->seed,
    };
    const struct yk_dataset *evaluated =
        inputs->evaluation_dataset ? inputs->evaluation_dataset : inputs->dataset;
    YK_TRY(yk_dataset_create_training_sampler(inputs->dataset, &cut, &inputs->samples));
    YK_TRY(yk_dataset_create_evaluation_sampler(evaluated, &cut, inputs->evaluation_dataset != NULL,
                                                &inputs->evaluation));
    if (!inputs->evaluation && request->eval_fraction > 0) {
        yk_log(YK_LOG_NOTE, "the data is too short to keep a part of it for evaluation");
    }
    return YK_OK;
}

void yk_train_inputs_close(struct yk_train_inputs *inputs)
{
    yk_sampler_destroy(inputs->evaluation);
    yk_sampler_destroy(inputs->samples);
    yk_dataset_close(inputs->evaluation_dataset);
    yk_dataset_close(inputs->dataset);
    yk_tokenizer_destroy(inputs->own_tokenizer);
    yk_json_destroy(inputs->chat_variables);
    *inputs = (struct yk_train_inputs){0};
}
