#include "cli/commands/inspect.h"

#include "base/json.h"
#include "base/number.h"
#include "base/option_layers.h"
#include "base/table.h"
#include "base/units.h"
#include "base/wording.h"
#include "job/training/train.h"
#include "model/architecture.h"

#include <inttypes.h>
#include <string.h>

static double count_numbers(const struct yk_tensor_entry *entry)
{
    double numbers = 1;
    for (int32_t i = 0; i < entry->rank; i++) {
        numbers *= (double)entry->shape[i];
    }
    return numbers;
}

struct yk_inspected_sum yk_inspect_sum(const struct yk_inspected *inspected)
{
    struct yk_inspected_sum sum = {.tensors = yk_tensor_set_count(inspected->set)};
    for (int32_t i = 0; i < yk_tensor_set_count(inspected->set); i++) {
        const struct yk_tensor_entry *entry = yk_tensor_set_at(inspected->set, i)->entry;
        sum.numbers += count_numbers(entry);
        sum.bytes += (double)entry->bytes;
    }
    return sum;
}

/* "48 × 144" between brackets of either form. */
static void add_shape(const struct yk_tensor_entry *entry, const char *between, struct yk_text *out)
{
    for (int32_t i = 0; i < entry->rank; i++) {
        yk_text_addf(out, "%s%" PRId64, i > 0 ? between : "", entry->shape[i]);
    }
}

static yk_status add_tensors(const struct yk_tensor_set *set, struct yk_text *out)
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
    for (int32_t i = 0; i < yk_tensor_set_count(set); i++) {
        const struct yk_tensor_entry *entry = yk_tensor_set_at(set, i)->entry;
        shape.length = 0;
        add_shape(entry, " x ", &shape);
        yk_table_add(table, "%s", entry->name);
        yk_table_add(table, "%s", yk_tensor_type_name(entry->type));
        yk_table_add(table, "%s", entry->rank > 0 ? yk_text_chars(&shape) : "one number");
        yk_table_add(table, "%" PRIu64, entry->bytes);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    yk_text_free(&shape);
    return status;
}

static void add_notes(const struct yk_tensor_set *set, struct yk_text *out)
{
    for (int32_t f = 0; f < yk_tensor_set_file_count(set); f++) {
        const struct yk_tensor_file *file = yk_tensor_set_file_at(set, f);
        for (int32_t i = 0; i < yk_tensor_file_metadata_count(file); i++) {
            const struct yk_tensor_note *note = yk_tensor_file_metadata_at(file, i);
            yk_text_addf(out, "%s says ", yk_tensor_file_path(file));
            yk_text_add_line(out, note->key);
            yk_text_add(out, ": ");
            yk_text_add_line(out, note->value);
            yk_text_add(out, "\n");
        }
    }
}

/* "1e-08" is what "1e-8" presets. */
static bool is_preset(const struct yk_option *option, const char *word)
{
    double value = 0;
    double preset = 0;
    if (!option->preset) {
        return false;
    }
    if (yk_number_read(word, strlen(word), &value) &&
        yk_number_read(option->preset, strlen(option->preset), &preset)) {
        return value == preset;
    }
    return strcmp(word, option->preset) == 0;
}

/* The settings that are not preset, as words of the command line. */
static void add_settings(const struct yk_json *settings, struct yk_text *out)
{
    struct yk_text word = {0};
    for (size_t i = 0; i < yk_train_options.count; i++) {
        const struct yk_option *option = &yk_train_options.rows[i];
        word.length = 0;
        if (!yk_option_layer_word(yk_json_get(settings, option->name), &word) ||
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

static yk_status add_run(const struct yk_checkpoint *checkpoint, struct yk_text *out)
{
    struct yk_json *settings = NULL;
    if (!checkpoint->settings_json) {
        return YK_OK;
    }
    YK_TRY(yk_json_parse(checkpoint->settings_json, strlen(checkpoint->settings_json), &settings));
    yk_text_add(out, "  made by     yoke train");
    add_settings(settings, out);
    yk_text_add(out, "\n");
    yk_json_destroy(settings);
    return YK_OK;
}

static yk_status add_checkpoint(const struct yk_checkpoint *checkpoint, struct yk_text *out)
{
    const struct yk_model_config *config = checkpoint->config;
    const struct yk_workload *workload = &checkpoint->workload;
    const int64_t known = yk_model_config_target_vocabulary(config);
    yk_text_addf(out, "  step        %" PRId64 ", %" PRId64 " sample%s\n", checkpoint->state.step,
                 checkpoint->state.samples, yk_wording_plural(checkpoint->state.samples));
    yk_text_addf(out,
                 "  model       %s, %" PRId64 " layer%s of width %" PRId64 ", %" PRId64
                 " token%s in its vocabulary\n",
                 config->architecture->name, config->layers, yk_wording_plural(config->layers),
                 config->width, known, yk_wording_plural(known));
    yk_text_addf(out, "  samples     %" PRId64 " token%s, %s", workload->sequence,
                 yk_wording_plural(workload->sequence), yk_precision_name(workload->precision));
    if (workload->lora_rank > 0) {
        yk_text_addf(out, ", LoRA of rank %" PRId64 " and alpha %g%s, for %s", workload->lora_rank,
                     checkpoint->lora_alpha, workload->nf4 ? ", NF4" : "",
                     checkpoint->base_model ? checkpoint->base_model : "weights it does not name");
    }
    yk_text_add(out, "\n");
    if (checkpoint->tokenizer) {
        yk_text_add(out, "  tokenizer   ");
        yk_tokenizer_describe(checkpoint->tokenizer, out);
        yk_text_add(out, "\n");
    }
    YK_TRY(add_run(checkpoint, out));
    if (checkpoint->shards > 0) {
        yk_text_addf(out, "  saved by    %" PRId32 " ranks, each a shard of it\n",
                     checkpoint->shards);
    }
    yk_text_add(out, "  whole       yes: all files have their sizes and hashes\n");
    return YK_OK;
}

yk_status yk_inspect_write_text(const struct yk_inspected *inspected, struct yk_text *out)
{
    const struct yk_inspected_sum sum = yk_inspect_sum(inspected);
    const int32_t files = yk_tensor_set_file_count(inspected->set);
    char size[YK_UNITS_SIZE];
    yk_text_addf(out, "%s\n\n", inspected->path);
    if (inspected->checkpoint) {
        YK_TRY(add_checkpoint(inspected->checkpoint, out));
        yk_text_add(out, "\n");
    }
    YK_TRY(add_tensors(inspected->set, out));
    yk_units_format(sum.bytes, YK_UNIT_BYTES, size);
    yk_text_addf(out, "\n%" PRId64 " tensor%s in %d file%s, %.0f numbers, %s\n", sum.tensors,
                 sum.tensors == 1 ? "" : "s", (int)files, files == 1 ? "" : "s", sum.numbers, size);
    if (inspected->optimizer) {
        yk_units_format((double)yk_tensor_file_size(inspected->optimizer), YK_UNIT_BYTES, size);
        yk_text_addf(out, "%s: %d tensors, %s\n", yk_tensor_file_path(inspected->optimizer),
                     (int)yk_tensor_file_count(inspected->optimizer), size);
    }
    add_notes(inspected->set, out);
    return yk_text_status(out);
}

static void add_checkpoint_object(const struct yk_checkpoint *checkpoint, struct yk_text *out)
{
    const struct yk_model_config *config = checkpoint->config;
    const struct yk_workload *workload = &checkpoint->workload;
    yk_text_addf(out, "{\"step\":%" PRId64 ",\"updates\":%" PRId64 ",\"samples\":%" PRId64,
                 checkpoint->state.step, checkpoint->state.updates, checkpoint->state.samples);
    yk_text_add(out, ",\"architecture\":");
    yk_text_add_json(out, config->architecture->name);
    yk_text_addf(out, ",\"layers\":%" PRId64 ",\"width\":%" PRId64 ",\"vocabulary\":%" PRId64,
                 config->layers, config->width, yk_model_config_target_vocabulary(config));
    yk_text_addf(out, ",\"sequence\":%" PRId64 ",\"precision\":\"%s\"", workload->sequence,
                 yk_precision_name(workload->precision));
    yk_text_addf(out, ",\"lora\":%" PRId64 ",\"nf4\":%s", workload->lora_rank,
                 workload->nf4 ? "true" : "false");
    if (checkpoint->shards > 0) {
        yk_text_addf(out, ",\"ranks\":%" PRId32, checkpoint->shards);
    }
    yk_text_add(out, ",\"whole\":true,\"settings\":");
    yk_text_add(out, checkpoint->settings_json ? checkpoint->settings_json : "null");
    yk_text_add(out, "}");
}

static void add_file_objects(const struct yk_tensor_set *set, struct yk_text *out)
{
    for (int32_t f = 0; f < yk_tensor_set_file_count(set); f++) {
        const struct yk_tensor_file *file = yk_tensor_set_file_at(set, f);
        yk_text_add(out, f > 0 ? ",\n  {\"path\":" : "\n  {\"path\":");
        yk_text_add_json(out, yk_tensor_file_path(file));
        yk_text_addf(out, ",\"bytes\":%" PRIu64 ",\"metadata\":{", yk_tensor_file_size(file));
        for (int32_t i = 0; i < yk_tensor_file_metadata_count(file); i++) {
            const struct yk_tensor_note *note = yk_tensor_file_metadata_at(file, i);
            yk_text_add(out, i > 0 ? "," : "");
            yk_text_add_json(out, note->key);
            yk_text_add(out, ":");
            yk_text_add_json(out, note->value);
        }
        yk_text_add(out, "}}");
    }
}

static void add_tensor_objects(const struct yk_tensor_set *set, struct yk_text *out)
{
    for (int32_t i = 0; i < yk_tensor_set_count(set); i++) {
        const struct yk_tensor_place *place = yk_tensor_set_at(set, i);
        yk_text_add(out, i > 0 ? ",\n  {\"name\":" : "\n  {\"name\":");
        yk_text_add_json(out, place->entry->name);
        yk_text_addf(out, ",\"type\":\"%s\",\"shape\":[", yk_tensor_type_name(place->entry->type));
        add_shape(place->entry, ",", out);
        yk_text_addf(out, "],\"bytes\":%" PRIu64 "}", place->entry->bytes);
    }
}

yk_status yk_inspect_write_shard(const char *path, int64_t tokens, bool json, struct yk_text *out)
{
    if (json) {
        yk_text_add(out, "{\"yoke\":1,\"kind\":\"shard\",\"path\":");
        yk_text_add_json(out, path);
        yk_text_addf(out, ",\"tokens\":%" PRId64 "}\n", tokens);
    } else {
        yk_text_addf(out, "%s: a shard of %" PRId64 " token%s\n", path, tokens,
                     yk_wording_plural(tokens));
    }
    return yk_text_status(out);
}

yk_status yk_inspect_write_json(const struct yk_inspected *inspected, struct yk_text *out)
{
    const struct yk_inspected_sum sum = yk_inspect_sum(inspected);
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"tensors\",\"path\":");
    yk_text_add_json(out, inspected->path);
    yk_text_add(out, ",\n \"checkpoint\":");
    if (inspected->checkpoint) {
        add_checkpoint_object(inspected->checkpoint, out);
    } else {
        yk_text_add(out, "null");
    }
    yk_text_addf(out, ",\n \"numbers\":%.0f,\"bytes\":%.0f,\n \"files\":[", sum.numbers, sum.bytes);
    add_file_objects(inspected->set, out);
    yk_text_add(out, "],\n \"tensors\":[");
    add_tensor_objects(inspected->set, out);
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}
