#include "nn/weights/adapter_config.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/json_write.h"
#include "model/architecture.h"
#include "nn/layers/layer.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_ALPHA = 8, /* of PEFT */
    MAX_RANK = 1 << 20,
    MAX_TARGETS = 64,
};

/* Whether a key has a value that PEFT writes for an unused option. */
static bool is_unset(const struct yk_json *node)
{
    bool flag = false;
    const char *word = yk_json_string_value(node);
    if (!node || yk_json_is_null(node)) {
        return true;
    }
    if (yk_json_boolean_value(node, &flag)) {
        return !flag;
    }
    if (yk_json_is_object(node)) {
        return yk_json_check_keys(node, NULL, 0) == YK_OK;
    }
    return word ? strcmp(word, "none") == 0
                : yk_json_is_array(node) && yk_json_array_count(node) == 0;
}

static yk_status refuse_kinds(const struct yk_json *root)
{
    static const char *const keys[] = {
        "use_rslora",        "use_dora",
        "rank_pattern",      "alpha_pattern",
        "lora_bias",         "bias",
        "use_qalora",        "use_bdlora",
        "target_parameters", "trainable_token_indices",
        "layer_replication", "alora_invocation_tokens",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!is_unset(yk_json_get_member(root, keys[i]))) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"%s\" is set; only plain LoRA adapters, without it, can be used",
                           keys[i]);
        }
    }
    return YK_OK;
}

/* Of all modules, only the head of a classifier can be saved as a whole. Which module that is, the
 * model knows. */
static yk_status read_saved_module(const struct yk_json *root, struct yk_arena *arena,
                                   struct yk_adapter_config *out)
{
    static const char key[] = "modules_to_save";
    const struct yk_json *list = yk_json_get_member(root, key);
    if (is_unset(list)) {
        return YK_OK;
    }
    const char *name = yk_json_string_value(yk_json_array_at(list, 0));
    if (!name || yk_json_array_count(list) != 1) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" must be a list of one module, the head of a classifier", key);
    }
    return yk_arena_strdup(arena, name, &out->saved_module);
}

static yk_status read_root(const struct yk_json *root, struct yk_arena *arena,
                           struct yk_adapter_config *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(root, "peft_type"));
    const struct yk_json *alpha = yk_json_get_member(root, "lora_alpha");
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "an adapter_config.json is an object, not %s",
                       yk_json_type_name(root));
    }
    if (!type || strcmp(type, "LORA") != 0) {
        return yk_fail(YK_ERROR_INPUT, "\"peft_type\" is %s%s%s; only \"LORA\" can be used",
                       type ? "\"" : "", type ? type : "missing", type ? "\"" : "");
    }
    YK_TRY(refuse_kinds(root));
    YK_TRY(read_saved_module(root, arena, out));
    if (!yk_json_get_member(root, "r")) {
        return yk_fail(YK_ERROR_INPUT, "\"r\" is missing; it gives the rank of the adapters");
    }
    YK_TRY(yk_json_get_integer(root, "r", 1, MAX_RANK, &out->rank));
    out->alpha = DEFAULT_ALPHA;
    if (alpha && (!yk_json_number_value(alpha, &out->alpha) || !(out->alpha > 0))) {
        return yk_fail(YK_ERROR_INPUT, "\"lora_alpha\" must be a number above 0");
    }
    return yk_arena_strdup(
        arena, yk_json_string_value(yk_json_get_member(root, "base_model_name_or_path")),
        &out->base);
}

yk_status yk_adapter_config_parse(const char *text, size_t length, struct yk_arena *arena,
                                  struct yk_adapter_config *out)
{
    struct yk_json *root = NULL;
    struct yk_adapter_config config = {0};
    YK_TRY(yk_json_parse(text, length, &root));
    const yk_status status = read_root(root, arena, &config);
    yk_json_destroy(root);
    if (status == YK_OK) {
        *out = config;
    }
    return status;
}

yk_status yk_adapter_config_read(const char *folder, struct yk_arena *arena,
                                 struct yk_adapter_config *out)
{
    const char *path = NULL;
    struct yk_text text = {0};
    YK_TRY(yk_folder_join_path(folder, "adapter_config.json", arena, &path));
    yk_status status = yk_file_read_document(path, &text);
    if (status == YK_OK) {
        status = yk_adapter_config_parse(yk_text_chars(&text), text.length, arena, out);
        status = status == YK_ERROR_INPUT ? yk_status_prefix_message(status, path) : status;
    }
    yk_text_free(&text);
    return status;
}

struct targets {
    struct yk_text names[MAX_TARGETS]; /* last parts of the adapted modules' names, sorted */
    int32_t count;
    bool transposed;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(yk_text_chars(a), yk_text_chars(b));
}

static void add_target(struct targets *targets, const char *module, size_t length)
{
    for (int32_t i = 0; i < targets->count; i++) {
        const struct yk_text *name = &targets->names[i];
        if (name->length == length && memcmp(yk_text_chars(name), module, length) == 0) {
            return;
        }
    }
    if (targets->count < MAX_TARGETS) {
        yk_text_add_bytes(&targets->names[targets->count++], module, length);
    }
}

/* The last part of a dotted name that ends at `end`. */
static const char *last_part(const char *name, const char *end)
{
    while (end > name && end[-1] != '.') {
        end--;
    }
    return end;
}

/* Whether a linear or table outside blocks has this last name. `begin` and `end` are those of the
 * name. Modules outside blocks have no adapters. */
static bool is_outside(const struct yk_net *net, const char *begin, const char *end)
{
    const size_t length = (size_t)(end - begin);
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        const char *name = at.parameter->name;
        const char *last = strrchr(name, '.');
        if (net->layers[at.layer].kind->block || at.parameter->rank < 2 || !last) {
            continue;
        }
        const char *other = last_part(name, last);
        if ((size_t)(last - other) == length && strncmp(other, begin, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The target of "model.layers.0.mlp.up_proj.weight" is "up_proj". BERT calls many linears "dense",
 * also that of its head, which has no adapter: their target is "output.dense". */
static const char *target_of(const struct yk_net *net, const char *name, const char *end)
{
    const char *begin = last_part(name, end);
    return begin > name && is_outside(net, begin, end) ? last_part(name, begin - 1) : begin;
}

static void list_targets(const struct yk_net *net, struct targets *out)
{
    for (int32_t l = 0; l < net->layer_count; l++) {
        const struct yk_net_layer *layer = &net->layers[l];
        for (int32_t s = 0; s < layer->projection_count; s++) {
            const struct yk_projection *projection = &layer->projections[s];
            for (int32_t part = 0; projection->a >= 0 && part < projection->parts; part++) {
                const char *name = layer->parameters[projection->weight + part].name;
                const char *end = strrchr(name, '.');
                const char *begin = target_of(net, name, end);
                add_target(out, begin, (size_t)(end - begin));
                out->transposed = projection->transposed;
            }
        }
    }
    qsort(out->names, (size_t)out->count, sizeof out->names[0], by_name);
}

/* PEFT's task type; PEFT has none for masked language models. */
static const char *task_of(const struct yk_model_config *config)
{
    if (config->encoder_layers > 0) {
        return "SEQ_2_SEQ_LM";
    }
    return config->masked_head || config->classifier ? NULL : "CAUSAL_LM";
}

/* A regular expression for the adapted modules. Of a model of text and images it names the
 * language model, as the other part has modules of the same names. */
static void write_expression(const struct yk_model_config *config, const struct targets *targets,
                             struct yk_json_writer *json)
{
    struct yk_text text = {0};
    for (const char *at = config->architecture->base; *at; at++) {
        yk_text_addf(&text, *at == '.' ? "\\%c" : "%c", *at);
    }
    yk_text_add(&text, "\\..*\\.(");
    for (int32_t i = 0; i < targets->count; i++) {
        yk_text_addf(&text, i > 0 ? "|%s" : "%s", yk_text_chars(&targets->names[i]));
    }
    yk_text_add(&text, ")");
    yk_json_write_string(json, "target_modules", yk_text_chars(&text));
    yk_text_free(&text);
}

static void write_targets(const struct targets *targets, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "target_modules");
    json->line_indent = 4;
    for (int32_t i = 0; i < targets->count; i++) {
        yk_json_write_string(json, NULL, yk_text_chars(&targets->names[i]));
    }
    yk_json_write_newline(json, 2);
    yk_json_write_end_array(json);
    json->line_indent = 2;
}

static void write_saved_modules(const struct yk_model_config *config, struct yk_json_writer *json)
{
    static const char key[] = "modules_to_save";
    if (!config->classifier) {
        yk_json_write_null(json, key);
        return;
    }
    yk_json_write_begin_array(json, key);
    json->line_indent = 4;
    yk_json_write_string(json, NULL, yk_architecture_outer_module_name(config, YK_MODULE_HEAD));
    yk_json_write_newline(json, 2);
    yk_json_write_end_array(json);
    json->line_indent = 2;
}

yk_status yk_adapter_config_to_json(const struct yk_net *net, const char *base, struct yk_text *out)
{
    struct targets targets = {0};
    struct yk_json_writer json = {.text = out, .spaced = true};
    list_targets(net, &targets);
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_raw(&json, "alpha_pattern", "{}");
    yk_json_write_string(&json, "base_model_name_or_path", base);
    yk_json_write_string(&json, "bias", "none");
    yk_json_write_bool(&json, "fan_in_fan_out", targets.transposed);
    yk_json_write_bool(&json, "inference_mode", true);
    yk_json_write_bool(&json, "init_lora_weights", true);
    yk_json_write_null(&json, "layers_pattern");
    yk_json_write_null(&json, "layers_to_transform");
    yk_json_write_number(&json, "lora_alpha", yk_net_adapter_alpha(net));
    yk_json_write_raw(&json, "lora_dropout", "0.0");
    write_saved_modules(net->config, &json);
    yk_json_write_string(&json, "peft_type", "LORA");
    yk_json_write_integer(&json, "r", net->workload.lora_rank);
    yk_json_write_raw(&json, "rank_pattern", "{}");
    yk_json_write_null(&json, "revision");
    if (net->config->architecture->text_family) {
        write_expression(net->config, &targets, &json);
    } else {
        write_targets(&targets, &json);
    }
    for (int32_t i = 0; i < targets.count; i++) {
        yk_text_free(&targets.names[i]);
    }
    yk_json_write_string(&json, "task_type", task_of(net->config));
    yk_json_write_bool(&json, "use_dora", false);
    yk_json_write_bool(&json, "use_rslora", false);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
