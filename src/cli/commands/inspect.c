#include "job/models/inspect.h"
#include "base/json_write.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/command.h"

#include <inttypes.h>

/* "48 x 144" */
static void add_shape(const struct yk_inspect_tensor *tensor, struct yk_text *out)
{
    for (int32_t i = 0; i < tensor->rank; i++) {
        yk_text_addf(out, "%s%" PRId64, i > 0 ? " x " : "", tensor->shape[i]);
    }
}

static yk_status add_tensors(const struct yk_inspect_result *result, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"tensor", YK_TABLE_LEFT},
        {"type", YK_TABLE_LEFT},
        {"shape", YK_TABLE_LEFT},
        {"bytes", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    struct yk_text shape = {0};
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < result->tensor_count; i++) {
        const struct yk_inspect_tensor *tensor = &result->tensors[i];
        shape.length = 0;
        add_shape(tensor, &shape);
        yk_table_add(table, "%s", tensor->name);
        yk_table_add(table, "%s", tensor->type);
        yk_table_add(table, "%s", tensor->rank > 0 ? yk_text_chars(&shape) : "one number");
        yk_table_add(table, "%" PRIu64, tensor->bytes);
    }
    const yk_status status = yk_table_write_and_destroy(table, out);
    yk_text_free(&shape);
    return status;
}

static void add_metadata(const struct yk_inspect_file *file, struct yk_text *out)
{
    for (int32_t i = 0; i < file->metadata_count; i++) {
        yk_text_addf(out, "%s says ", file->path);
        yk_text_add_escaped_line(out, file->metadata[i].key);
        yk_text_add(out, ": ");
        yk_text_add_escaped_line(out, file->metadata[i].value);
        yk_text_add(out, "\n");
    }
}

static void add_checkpoint(const struct yk_inspect_checkpoint *checkpoint, struct yk_text *out)
{
    yk_text_addf(out, "  step        %" PRId64 ", %" PRId64 " sample%s\n", checkpoint->step,
                 checkpoint->samples, yk_text_plural_suffix(checkpoint->samples));
    yk_text_addf(out,
                 "  model       %s, %" PRId64 " layer%s of width %" PRId64 ", %" PRId64
                 " token%s in its vocabulary\n",
                 checkpoint->architecture, checkpoint->layers,
                 yk_text_plural_suffix(checkpoint->layers), checkpoint->width,
                 checkpoint->vocabulary, yk_text_plural_suffix(checkpoint->vocabulary));
    yk_text_addf(out, "  samples     %" PRId64 " token%s, %s", checkpoint->sequence,
                 yk_text_plural_suffix(checkpoint->sequence), checkpoint->precision);
    if (checkpoint->lora_rank > 0) {
        yk_text_addf(out, ", LoRA of rank %" PRId64 " and alpha %g%s, for %s",
                     checkpoint->lora_rank, checkpoint->lora_alpha, checkpoint->nf4 ? ", NF4" : "",
                     checkpoint->base_model ? checkpoint->base_model : "weights it does not name");
    }
    yk_text_add(out, "\n");
    if (checkpoint->tokenizer) {
        yk_text_addf(out, "  tokenizer   %s\n", checkpoint->tokenizer);
    }
    if (checkpoint->options) {
        yk_text_addf(out, "  made by     yoke train%s\n", checkpoint->options);
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
                 result->tensor_count, yk_text_plural_suffix(result->tensor_count),
                 result->file_count, yk_text_plural_suffix(result->file_count), result->numbers,
                 YK_UNITS_TEXT(result->bytes, YK_UNIT_BYTES));
    if (result->optimizer) {
        yk_text_addf(out, "%s: %" PRId32 " tensors, %s\n", result->optimizer,
                     result->optimizer_tensors,
                     YK_UNITS_TEXT((double)result->optimizer_bytes, YK_UNIT_BYTES));
    }
}

static yk_status write_text(const struct yk_inspect_result *result, struct yk_text *out)
{
    if (result->is_token_shard) {
        yk_text_addf(out, "%s: a shard of %" PRId64 " token%s\n", result->path, result->tokens,
                     yk_text_plural_suffix(result->tokens));
        return yk_text_status(out);
    }
    yk_text_addf(out, "%s\n\n", result->path);
    if (result->checkpoint) {
        add_checkpoint(result->checkpoint, out);
    }
    YK_TRY(add_tensors(result, out));
    add_sums(result, out);
    for (int32_t i = 0; i < result->file_count; i++) {
        add_metadata(&result->files[i], out);
    }
    return yk_text_status(out);
}

static void write_checkpoint(const struct yk_inspect_checkpoint *checkpoint,
                             struct yk_json_writer *json)
{
    if (!checkpoint) {
        yk_json_write_null(json, "checkpoint");
        return;
    }
    yk_json_write_begin_object(json, "checkpoint");
    yk_json_write_integer(json, "step", checkpoint->step);
    yk_json_write_integer(json, "updates", checkpoint->updates);
    yk_json_write_integer(json, "samples", checkpoint->samples);
    yk_json_write_string(json, "architecture", checkpoint->architecture);
    yk_json_write_integer(json, "layers", checkpoint->layers);
    yk_json_write_integer(json, "width", checkpoint->width);
    yk_json_write_integer(json, "vocabulary", checkpoint->vocabulary);
    yk_json_write_integer(json, "sequence", checkpoint->sequence);
    yk_json_write_string(json, "precision", checkpoint->precision);
    yk_json_write_integer(json, "lora", checkpoint->lora_rank);
    yk_json_write_bool(json, "nf4", checkpoint->nf4);
    if (checkpoint->shards > 0) {
        yk_json_write_integer(json, "ranks", checkpoint->shards);
    }
    yk_json_write_bool(json, "whole", true);
    yk_json_write_raw(json, "options",
                      checkpoint->options_json ? checkpoint->options_json : "null");
    yk_json_write_end_object(json);
}

static void write_file(const struct yk_inspect_file *file, struct yk_json_writer *json)
{
    yk_json_write_begin_row(json, 2);
    yk_json_write_string(json, "path", file->path);
    yk_json_write_integer(json, "bytes", (int64_t)file->bytes);
    yk_json_write_begin_object(json, "metadata");
    for (int32_t i = 0; i < file->metadata_count; i++) {
        yk_json_write_string(json, file->metadata[i].key, file->metadata[i].value);
    }
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void write_tensor(const struct yk_inspect_tensor *tensor, struct yk_json_writer *json)
{
    yk_json_write_begin_row(json, 2);
    yk_json_write_string(json, "name", tensor->name);
    yk_json_write_string(json, "type", tensor->type);
    yk_json_write_begin_array(json, "shape");
    for (int32_t i = 0; i < tensor->rank; i++) {
        yk_json_write_integer(json, NULL, tensor->shape[i]);
    }
    yk_json_write_end_array(json);
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
    for (int32_t i = 0; i < result->file_count; i++) {
        write_file(&result->files[i], json);
    }
    yk_json_write_end_array(json);
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "tensors");
    for (int32_t i = 0; i < result->tensor_count; i++) {
        write_tensor(&result->tensors[i], json);
    }
    yk_json_write_end_array(json);
}

static yk_status write_json(const struct yk_inspect_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_document(&json, result->is_token_shard ? "shard" : "tensors");
    yk_json_write_string(&json, "path", result->path);
    if (result->is_token_shard) {
        yk_json_write_integer(&json, "tokens", result->tokens);
    } else {
        write_tensors(result, &json);
    }
    return yk_json_write_end_document(&json);
}

struct arguments {
    struct yk_inspect_request request;
    bool json;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_inspect_result result = {0};
    yk_status status = yk_inspect_run(&arguments->request, &result);
    YK_THEN(arguments->json ? write_json(&result, out) : write_text(&result, out));
    yk_inspect_result_free(&result);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "PATH",
        .help =
            "A .safetensors file, a folder of them, a checkpoint, the folder of a run, or a token "
            "shard (.bin)",
        .required = true,
        YK_OPTION_FIELD(struct arguments, request.path),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW("json", NULL, NULL, "Print JSON instead of text"), YK_FLAG,
     YK_OPTION_FIELD(struct arguments, json)},
};

static const struct yk_command_example examples[] = {
    {"yoke inspect model.safetensors", "The tensors of a file, with their types and shapes"},
    {"yoke inspect runs/gpt-mini", "The newest checkpoint of a run: how far it is, and of what"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "there is no such file or folder, or it is torn or makes no sense"},
};

const struct yk_command yk_command_inspect = {
    .name = "inspect",
    .summary = "list the tensors of a file, a folder or a checkpoint",
    .description = "Prints every tensor with its type, shape and bytes, their sums, and what the "
                   "files say about themselves. Of a checkpoint, all files are compared with their "
                   "sizes and hashes first, and its step, model and settings are printed; one that "
                   "is torn is an error that names the file.",
    YK_COMMAND_MEMBERS(struct arguments),
};
