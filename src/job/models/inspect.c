#include "job/models/inspect.h"

#include "base/folder.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "data/token_shard.h"
#include "job/training/request.h"
#include "model/architecture.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/shard.h"

#include <inttypes.h>
#include <string.h>

/* A checkpoint says of itself that it is one; the folder of a run has them in a folder. */
static yk_status holds_checkpoint(const char *path, struct yk_arena *arena, bool *out)
{
    struct yk_checkpoint_folder_list list = {0};
    *out = yk_folder_contains(path, "manifest.json") || yk_folder_contains(path, "checkpoints");
    if (!*out && yk_folder_exists(path)) {
        YK_TRY(yk_checkpoint_folder_list_checkpoints(path, arena, &list));
        *out = list.count > 0;
    }
    return YK_OK;
}

static bool is_token_shard(const char *path)
{
    return yk_text_ends_with(path, ".bin") && !yk_folder_exists(path);
}

/* A checkpoint that several ranks saved has its tensors in their shards, piece by piece. */
static yk_status open_shards(struct yk_inspect_result *out)
{
    const struct yk_checkpoint *checkpoint = out->checkpoint;
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
    YK_TRY(yk_checkpoint_open(path, &out->checkpoint));
    if (out->checkpoint->shards > 0) {
        return open_shards(out);
    }
    YK_TRY(yk_tensor_set_open(out->checkpoint->path, &out->set));
    if (yk_folder_contains(out->checkpoint->path, "optimizer.safetensors")) {
        const char *file = NULL;
        YK_TRY(
            yk_folder_join_path(out->checkpoint->path, "optimizer.safetensors", out->arena, &file));
        YK_TRY(yk_safetensors_open(file, &out->optimizer));
    }
    return YK_OK;
}

static void add_up(struct yk_inspect_result *out)
{
    for (int32_t i = 0; i < out->set->count; i++) {
        const struct yk_tensor_file_entry *entry = out->set->locations[i].entry;
        double numbers = 1;
        for (int32_t k = 0; k < entry->rank; k++) {
            numbers *= (double)entry->shape[k];
        }
        out->numbers += numbers;
        out->bytes += (double)entry->bytes;
    }
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
        if (!yk_option_json_value_to_text(yk_json_get_member(options, option->name), &word) ||
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

static yk_status describe_checkpoint(struct yk_inspect_result *out)
{
    const struct yk_checkpoint *checkpoint = out->checkpoint;
    const char *saved = checkpoint->options_json;
    struct yk_json *options = NULL;
    struct yk_text words = {0};
    if (checkpoint->tokenizer) {
        yk_tokenizer_append_description(checkpoint->tokenizer, &words);
        YK_TRY(yk_text_move_to_arena(&words, out->arena, &out->tokenizer));
    }
    if (!saved) {
        return YK_OK;
    }
    YK_TRY(yk_json_parse(saved, strlen(saved), &options));
    add_options(options, &words);
    yk_json_destroy(options);
    return yk_text_move_to_arena(&words, out->arena, &out->options);
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
    if (out->checkpoint) {
        out->path = out->checkpoint->path;
        YK_TRY(describe_checkpoint(out));
    }
    add_up(out);
    return YK_OK;
}

void yk_inspect_result_free(struct yk_inspect_result *result)
{
    yk_safetensors_close(result->optimizer);
    yk_tensor_set_close(result->set);
    yk_checkpoint_close(result->checkpoint);
    yk_arena_destroy(result->arena);
    *result = (struct yk_inspect_result){0};
}

/* "48 x 144" */
static void add_shape(const struct yk_tensor_file_entry *tensor, struct yk_text *out)
{
    for (int32_t i = 0; i < tensor->rank; i++) {
        yk_text_addf(out, "%s%" PRId64, i > 0 ? " x " : "", tensor->shape[i]);
    }
}

static yk_status add_tensors(const struct yk_inspect_result *result, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"tensor", YK_TEXT_TABLE_LEFT},
        {"type", YK_TEXT_TABLE_LEFT},
        {"shape", YK_TEXT_TABLE_LEFT},
        {"bytes", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    struct yk_text shape = {0};
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < result->set->count; i++) {
        const struct yk_tensor_file_entry *tensor = result->set->locations[i].entry;
        shape.length = 0;
        add_shape(tensor, &shape);
        yk_text_table_add_cell(table, "%s", tensor->name);
        yk_text_table_add_cell(table, "%s", yk_tensor_dtype_name(tensor->type));
        yk_text_table_add_cell(table, "%s",
                               tensor->rank > 0 ? yk_text_chars(&shape) : "one number");
        yk_text_table_add_cell(table, "%" PRIu64, tensor->bytes);
    }
    const yk_status status = yk_text_table_write_and_destroy(table, out);
    yk_text_free(&shape);
    return status;
}

static void add_metadata(const struct yk_safetensors_file *file, struct yk_text *out)
{
    for (int32_t i = 0; i < file->header->metadata_count; i++) {
        yk_text_addf(out, "%s says ", file->path);
        yk_text_add_escaped_line(out, file->header->metadata[i].key);
        yk_text_add(out, ": ");
        yk_text_add_escaped_line(out, file->header->metadata[i].value);
        yk_text_add(out, "\n");
    }
}

static void add_checkpoint(const struct yk_inspect_result *result, struct yk_text *out)
{
    const struct yk_checkpoint *checkpoint = result->checkpoint;
    const struct yk_model_config *config = checkpoint->config;
    const struct yk_workload *workload = &checkpoint->workload;
    const int64_t samples = checkpoint->state.samples;
    const int64_t vocabulary = yk_model_config_target_vocabulary_size(config);
    yk_text_addf(out, "  step        %" PRId64 ", %" PRId64 " sample%s\n", checkpoint->state.step,
                 samples, yk_text_plural_suffix(samples));
    yk_text_addf(out, "  model       %s, %" PRId64 " layer%s of width %" PRId64 ", ",
                 config->architecture->name, config->layers, yk_text_plural_suffix(config->layers),
                 config->width);
    if (config->classifier) {
        yk_text_addf(out, "%" PRId64 " class%s\n", vocabulary, vocabulary == 1 ? "" : "es");
    } else {
        yk_text_addf(out, "%" PRId64 " token%s in its vocabulary\n", vocabulary,
                     yk_text_plural_suffix(vocabulary));
    }
    if (yk_model_config_reads_images(config)) {
        yk_text_addf(
            out, "  images      %" PRId64 " × %" PRId64 " pixels, %" PRId64 " channel%s, %s",
            config->image.height, config->image.width, config->image.channels,
            yk_text_plural_suffix(config->image.channels), yk_precision_name(workload->precision));
    } else {
        yk_text_addf(out, "  samples     %" PRId64 " token%s, %s", workload->sequence,
                     yk_text_plural_suffix(workload->sequence),
                     yk_precision_name(workload->precision));
    }
    if (workload->lora_rank > 0) {
        yk_text_addf(out, ", LoRA of rank %" PRId64 " and alpha %g%s, for %s", workload->lora_rank,
                     checkpoint->lora_alpha, workload->nf4 ? ", NF4" : "",
                     checkpoint->base_model ? checkpoint->base_model : "weights it does not name");
    }
    yk_text_add(out, "\n");
    if (result->tokenizer) {
        yk_text_addf(out, "  tokenizer   %s\n", result->tokenizer);
    }
    if (result->options) {
        yk_text_addf(out, "  made by     yoke train%s\n", result->options);
    }
    if (checkpoint->shards > 0) {
        yk_text_addf(out, "  saved by    %" PRId32 " ranks, each a shard of it\n",
                     checkpoint->shards);
    }
    yk_text_add(out, "  whole       yes: all files have their sizes and hashes\n\n");
}

static void add_sums(const struct yk_inspect_result *result, struct yk_text *out)
{
    yk_text_addf(out, "\n%" PRId32 " tensor%s in %" PRId32 " file%s, %.0f numbers, %s\n",
                 result->set->count, yk_text_plural_suffix(result->set->count),
                 result->set->file_count, yk_text_plural_suffix(result->set->file_count),
                 result->numbers, YK_UNITS_FORMAT_TEMPORARY(result->bytes, YK_UNIT_BYTES));
    if (result->optimizer) {
        yk_text_addf(out, "%s: %" PRId32 " tensors, %s\n", result->optimizer->path,
                     result->optimizer->header->count,
                     YK_UNITS_FORMAT_TEMPORARY((double)result->optimizer->size, YK_UNIT_BYTES));
    }
}

yk_status yk_inspect_write_text(const struct yk_inspect_result *result, struct yk_text *out)
{
    if (result->is_token_shard) {
        yk_text_addf(out, "%s: a shard of %" PRId64 " token%s\n", result->path, result->tokens,
                     yk_text_plural_suffix(result->tokens));
        return yk_text_status(out);
    }
    yk_text_addf(out, "%s\n\n", result->path);
    if (result->checkpoint) {
        add_checkpoint(result, out);
    }
    YK_TRY(add_tensors(result, out));
    add_sums(result, out);
    for (int32_t i = 0; i < result->set->file_count; i++) {
        add_metadata(result->set->files[i], out);
    }
    return yk_text_status(out);
}

static void write_checkpoint(const struct yk_checkpoint *checkpoint, struct yk_json_writer *json)
{
    if (!checkpoint) {
        yk_json_write_null(json, "checkpoint");
        return;
    }
    yk_json_write_begin_object(json, "checkpoint");
    yk_json_write_integer(json, "step", checkpoint->state.step);
    yk_json_write_integer(json, "updates", checkpoint->state.updates);
    yk_json_write_integer(json, "samples", checkpoint->state.samples);
    yk_json_write_string(json, "architecture", checkpoint->config->architecture->name);
    yk_json_write_integer(json, "layers", checkpoint->config->layers);
    yk_json_write_integer(json, "width", checkpoint->config->width);
    yk_json_write_integer(json, "vocabulary",
                          yk_model_config_target_vocabulary_size(checkpoint->config));
    yk_json_write_integer(json, "sequence", checkpoint->workload.sequence);
    yk_json_write_string(json, "precision", yk_precision_name(checkpoint->workload.precision));
    yk_json_write_integer(json, "lora", checkpoint->workload.lora_rank);
    yk_json_write_bool(json, "nf4", checkpoint->workload.nf4);
    if (checkpoint->shards > 0) {
        yk_json_write_integer(json, "ranks", checkpoint->shards);
    }
    yk_json_write_bool(json, "whole", true);
    yk_json_write_raw(json, "options",
                      checkpoint->options_json ? checkpoint->options_json : "null");
    yk_json_write_end_object(json);
}

static void write_file(const struct yk_safetensors_file *file, struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "path", file->path);
    yk_json_write_integer(json, "bytes", (int64_t)file->size);
    yk_json_write_begin_object(json, "metadata");
    for (int32_t i = 0; i < file->header->metadata_count; i++) {
        yk_json_write_string(json, file->header->metadata[i].key, file->header->metadata[i].value);
    }
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void write_tensor(const struct yk_tensor_file_entry *tensor, struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "name", tensor->name);
    yk_json_write_string(json, "type", yk_tensor_dtype_name(tensor->type));
    yk_json_write_integers(json, "shape", tensor->shape, tensor->rank);
    yk_json_write_integer(json, "bytes", (int64_t)tensor->bytes);
    yk_json_write_end_object(json);
}

static void write_tensors(const struct yk_inspect_result *result, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    write_checkpoint(result->checkpoint, json);
    yk_json_write_newline(json, 1);
    yk_json_write_integer(json, "numbers", (int64_t)result->numbers);
    yk_json_write_integer(json, "bytes", (int64_t)result->bytes);
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "files");
    for (int32_t i = 0; i < result->set->file_count; i++) {
        write_file(result->set->files[i], json);
    }
    yk_json_write_end_array(json);
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "tensors");
    for (int32_t i = 0; i < result->set->count; i++) {
        write_tensor(result->set->locations[i].entry, json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_inspect_write_json(const struct yk_inspect_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, result->is_token_shard ? "shard" : "tensors");
    yk_json_write_string(&json, "path", result->path);
    if (result->is_token_shard) {
        yk_json_write_integer(&json, "tokens", result->tokens);
    } else {
        write_tensors(result, &json);
    }
    return yk_json_write_end_yoke_document(&json);
}
