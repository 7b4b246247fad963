#include "job/models/inspect.h"

#include "base/folder.h"
#include "base/json.h"
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "data/token_shard.h"
#include "job/training/request.h"
#include "model/architecture.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/shard.h"

#include <string.h>

/* A checkpoint says of itself that it is one; the folder of a run has them in a folder. */
static yk_status holds_checkpoint(const char *path, struct yk_arena *arena, bool *out)
{
    struct yk_checkpoint_folder_list list = {0};
    *out = yk_folder_contains(path, "manifest.json") || yk_folder_contains(path, "checkpoints");
    if (!*out && yk_folder_exists(path)) {
        YK_TRY(yk_checkpoint_folder_list(path, arena, &list));
        *out = list.count > 0;
    }
    return YK_OK;
}

static bool is_token_shard(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".bin") == 0 && !yk_folder_exists(path);
}

/* A checkpoint that several ranks saved has its tensors in their shards, piece by piece. */
static yk_status open_shards(struct yk_inspect_result *out)
{
    const struct yk_checkpoint *checkpoint = out->opened;
    const char **names = NULL;
    YK_TRY_NEW(out->arena, names, checkpoint->shards);
    for (int32_t rank = 0; rank < checkpoint->shards; rank++) {
        char name[YK_SHARD_FILE_NAME_SIZE];
        yk_shard_format_file_name(rank, checkpoint->shards, name);
        YK_TRY(yk_arena_strdup(out->arena, name, &names[rank]));
    }
    return yk_tensor_set_open_files(checkpoint->path, names, checkpoint->shards, &out->set);
}

static yk_status open_all(const char *path, struct yk_inspect_result *out)
{
    bool checkpoint = false;
    YK_TRY(holds_checkpoint(path, out->arena, &checkpoint));
    if (!checkpoint) {
        return yk_tensor_set_open(path, &out->set);
    }
    YK_TRY(yk_checkpoint_open(path, &out->opened));
    if (out->opened->shards > 0) {
        return open_shards(out);
    }
    YK_TRY(yk_tensor_set_open(out->opened->path, &out->set));
    if (yk_folder_contains(out->opened->path, "optimizer.safetensors")) {
        const char *file = NULL;
        YK_TRY(yk_folder_join_path(out->opened->path, "optimizer.safetensors", out->arena, &file));
        YK_TRY(yk_safetensors_open(file, &out->optimizer_file));
    }
    return YK_OK;
}

static double count_numbers(const struct yk_tensor_entry *entry)
{
    double numbers = 1;
    for (int32_t i = 0; i < entry->rank; i++) {
        numbers *= (double)entry->shape[i];
    }
    return numbers;
}

static yk_status list_tensors(struct yk_inspect_result *out)
{
    out->tensor_count = out->set->count;
    YK_TRY_NEW(out->arena, out->tensors, out->tensor_count);
    for (int32_t i = 0; i < out->tensor_count; i++) {
        const struct yk_tensor_entry *entry = out->set->locations[i].entry;
        out->tensors[i] = (struct yk_inspect_tensor){
            .name = entry->name,
            .type = yk_tensor_dtype_name(entry->type),
            .rank = entry->rank,
            .shape = entry->shape,
            .bytes = entry->bytes,
        };
        out->numbers += count_numbers(entry);
        out->bytes += (double)entry->bytes;
    }
    return YK_OK;
}

static yk_status list_metadata(const struct yk_safetensors *file, struct yk_arena *arena,
                               struct yk_inspect_file *out)
{
    out->metadata_count = file->header->metadata_count;
    YK_TRY_NEW(arena, out->metadata, out->metadata_count);
    for (int32_t i = 0; i < out->metadata_count; i++) {
        const struct yk_safetensors_metadata_entry *note = &file->header->metadata[i];
        out->metadata[i] =
            (struct yk_inspect_metadata_entry){.key = note->key, .value = note->value};
    }
    return YK_OK;
}

static yk_status list_files(struct yk_inspect_result *out)
{
    out->file_count = out->set->file_count;
    YK_TRY_NEW(out->arena, out->files, out->file_count);
    for (int32_t i = 0; i < out->file_count; i++) {
        const struct yk_safetensors *file = out->set->files[i];
        out->files[i].path = file->path;
        out->files[i].bytes = file->size;
        YK_TRY(list_metadata(file, out->arena, &out->files[i]));
    }
    if (out->optimizer_file) {
        out->optimizer = out->optimizer_file->path;
        out->optimizer_tensors = out->optimizer_file->header->count;
        out->optimizer_bytes = out->optimizer_file->size;
    }
    return YK_OK;
}

/* Whether the value is the default; numbers are compared by value: "1e-08" equals "1e-8". */
static bool is_preset(const struct yk_option *option, const char *word)
{
    double value = 0;
    double preset = 0;
    if (!option->default_value) {
        return false;
    }
    if (yk_number_parse(word, strlen(word), &value) &&
        yk_number_parse(option->default_value, strlen(option->default_value), &preset)) {
        return value == preset;
    }
    return strcmp(word, option->default_value) == 0;
}

/* Appends the options that differ from their defaults, as on the command line. */
static void add_options(const struct yk_json *options, struct yk_text *out)
{
    struct yk_text word = {0};
    for (size_t i = 0; i < yk_train_option_table.count; i++) {
        const struct yk_option *option = &yk_train_option_table.rows[i];
        word.length = 0;
        if (!yk_option_add_json_value(yk_json_get(options, option->name), &word) ||
            is_preset(option, yk_text_chars(&word))) {
            continue;
        }
        yk_text_addf(out, " --%s", option->name);
        if (option->kind != YK_OPTION_FLAG) {
            yk_text_addf(out, " %s", yk_text_chars(&word));
        }
    }
    yk_text_free(&word);
}

static yk_status describe_options(const char *options_json, struct yk_arena *arena,
                                  const char **out)
{
    struct yk_json *options = NULL;
    struct yk_text words = {0};
    if (!options_json) {
        return YK_OK;
    }
    YK_TRY(yk_json_parse(options_json, strlen(options_json), &options));
    add_options(options, &words);
    yk_json_destroy(options);
    return yk_text_move_to_arena(&words, arena, out);
}

static yk_status describe_checkpoint(struct yk_inspect_result *out)
{
    const struct yk_checkpoint *checkpoint = out->opened;
    const struct yk_model_config *config = checkpoint->config;
    const struct yk_workload *workload = &checkpoint->workload;
    struct yk_text tokenizer = {0};
    YK_TRY_NEW(out->arena, out->checkpoint, 1);
    *out->checkpoint = (struct yk_inspect_checkpoint){
        .step = checkpoint->state.step,
        .updates = checkpoint->state.updates,
        .samples = checkpoint->state.samples,
        .architecture = config->architecture->name,
        .layers = config->layers,
        .width = config->width,
        .vocabulary = yk_model_config_target_vocabulary(config),
        .sequence = workload->sequence,
        .precision = yk_precision_name(workload->precision),
        .lora_rank = workload->lora_rank,
        .lora_alpha = checkpoint->lora_alpha,
        .nf4 = workload->nf4,
        .base_model = checkpoint->base_model,
        .options_json = checkpoint->options_json,
        .shards = checkpoint->shards,
    };
    if (checkpoint->tokenizer) {
        yk_tokenizer_describe(checkpoint->tokenizer, &tokenizer);
        YK_TRY(yk_text_move_to_arena(&tokenizer, out->arena, &out->checkpoint->tokenizer));
    }
    return describe_options(checkpoint->options_json, out->arena, &out->checkpoint->options);
}

static yk_status count_tokens(const char *path, struct yk_inspect_result *out)
{
    struct yk_token_shard *shard = NULL;
    YK_TRY(yk_token_shard_open(path, &shard));
    out->is_token_shard = true;
    out->tokens = yk_token_shard_token_count(shard);
    yk_token_shard_close(shard);
    return YK_OK;
}

yk_status yk_inspect_run(const struct yk_inspect_request *request, struct yk_inspect_result *out)
{
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_arena_strdup(out->arena, request->path, &out->path));
    if (is_token_shard(request->path)) {
        return count_tokens(request->path, out);
    }
    YK_TRY(open_all(request->path, out));
    if (out->opened) {
        out->path = out->opened->path;
        YK_TRY(describe_checkpoint(out));
    }
    YK_TRY(list_files(out));
    return list_tensors(out);
}

void yk_inspect_result_free(struct yk_inspect_result *result)
{
    yk_safetensors_close(result->optimizer_file);
    yk_tensor_set_close(result->set);
    yk_checkpoint_close(result->opened);
    yk_arena_destroy(result->arena);
    *result = (struct yk_inspect_result){0};
}
