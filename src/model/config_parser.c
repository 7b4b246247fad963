#include "model/config_parser.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "model/architecture.h"
#include "model/config_blocks.h"
#include "model/config_fields.h"
#include "model/config_rope.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    MAX_LAYERS = 10000,
};

static const double MAX_PARAMETERS = 0x1p50;

static yk_status fail_unknown(const char *class, const char *type)
{
    struct yk_text known = {0};
    for (size_t i = 0; i < yk_architecture_count; i++) {
        yk_text_addf(&known, known.length > 0 ? ", %s" : "%s", yk_architectures[i].model_type);
    }
    const yk_status status =
        class || type
            ? yk_fail(YK_ERROR_INPUT,
                      "the architecture \"%s\" is not known; known values of \"model_type\" are %s",
                      class ? class : type, yk_text_chars(&known))
            : yk_fail(YK_ERROR_INPUT,
                      "neither \"architectures\" nor \"model_type\" says what model this is; known "
                      "values of \"model_type\" are %s",
                      yk_text_chars(&known));
    yk_text_free(&known);
    return status;
}

/* The family is known, but another class of its models. */
static yk_status fail_class(const struct yk_architecture *row, const char *class)
{
    struct yk_text known = {0};
    for (const char *const *name = row->classes; *name; name++) {
        yk_text_addf(&known, known.length > 0 ? " and %s" : "%s", *name);
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "the architecture \"%s\" is not known; of \"%s\", known is %s",
                class, row->model_type, yk_text_chars(&known));
    yk_text_free(&known);
    return status;
}

/* Returns whether `name` is one of `names`, which end with NULL. */
static bool contains(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0) {
        names++;
    }
    return *names;
}

/* An unknown class may have another head, so its model_type is not used. */
static yk_status find_architecture(const struct yk_json *json, const struct yk_architecture **out)
{
    const struct yk_json *list = yk_json_get_member(json, "architectures");
    const struct yk_json *type_node = yk_json_get_member(json, "model_type");
    if (list && !yk_json_is_null(list) && !yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"architectures\" must be a list of names, not %s",
                       yk_json_type_name(list));
    }
    if (type_node && !yk_json_string_value(type_node)) {
        return yk_fail(YK_ERROR_INPUT, "\"model_type\" must be a string, not %s",
                       yk_json_type_name(type_node));
    }
    const struct yk_json *first = yk_json_array_at(list, 0);
    const char *class = yk_json_string_value(first);
    const char *type = yk_json_string_value(type_node);
    if (first && !class) {
        return yk_fail(YK_ERROR_INPUT, "\"architectures\" must be a list of names, not of %s",
                       yk_json_type_name(first));
    }
    const struct yk_architecture *family = NULL;
    for (size_t i = 0; i < yk_architecture_count; i++) {
        const struct yk_architecture *row = &yk_architectures[i];
        const bool same_type = type && strcmp(row->model_type, type) == 0;
        if (class ? contains(row->classes, class) : same_type) {
            *out = row;
            return YK_OK;
        }
        family = same_type ? row : family;
    }
    return family ? fail_class(family, class) : fail_unknown(class, type);
}

/* Checks that the number of parameters does not overflow. */
static yk_status check_sizes(const struct yk_model_config *config)
{
    const double width = (double)config->width;
    const double attended = (double)config->heads * (double)config->head_size;
    const double tokens =
        (double)config->vocabulary + (double)yk_model_config_target_vocabulary_size(config);
    const double rows =
        2 * tokens + (double)config->token_types + (double)yk_model_config_patch_size(config) +
        (config->position_kind != YK_POSITIONS_NONE ? 2 * (double)config->positions : 0);
    const double blocks = (double)config->layers + (double)config->encoder_layers;
    const double inner = (double)config->feed_forward_width + (double)config->encoder_inner +
                         (double)config->experts * (double)config->expert_width +
                         (double)config->shared_expert_width;
    const double parameters = width * (rows + blocks * (8 * attended + 3 * inner));
    if (config->layers > MAX_LAYERS || config->encoder_layers > MAX_LAYERS) {
        return yk_fail(YK_ERROR_INPUT, "%" PRId64 " blocks are too many; at most %d are counted",
                       yk_number_max(config->layers, config->encoder_layers), MAX_LAYERS);
    }
    if (parameters > MAX_PARAMETERS) {
        return yk_fail(YK_ERROR_INPUT,
                       "these sizes together make about %.2g parameters; at most %.2g are counted",
                       parameters, MAX_PARAMETERS);
    }
    return YK_OK;
}

/* Computes the sizes that a file may leave out. */
static yk_status derive_sizes(const struct yk_json *json, struct yk_model_config *config)
{
    const struct yk_config_field *fields = config->architecture->fields;
    if (config->head_size == 0) {
        YK_TRY(yk_config_fields_check_divisible(fields, json, config,
                                                YK_MODEL_CONFIG_OFFSETOF(heads),
                                                YK_MODEL_CONFIG_OFFSETOF(width)));
        config->head_size = config->width / config->heads;
    }
    config->kv_heads = config->kv_heads > 0 ? config->kv_heads : config->heads;
    config->feed_forward_width =
        config->feed_forward_width > 0 ? config->feed_forward_width : 4 * config->width;
    return yk_config_fields_check_divisible(
        fields, json, config, YK_MODEL_CONFIG_OFFSETOF(kv_heads), YK_MODEL_CONFIG_OFFSETOF(heads));
}

static yk_status read_activation(const struct yk_json *json, struct yk_arena *arena,
                                 struct yk_model_config *config)
{
    const char *key = config->architecture->activation_key;
    bool known = true;
    if (key) {
        YK_TRY(yk_config_fields_read_activation(json, key, &config->activation, &known));
    }
    if (!known) {
        config->not_trained = yk_arena_format(arena, "its %s", key);
        YK_TRY_ALLOCATED(config->not_trained);
    }
    return YK_OK;
}

/* Finds the description of the language model of a model of text and images. */
static yk_status find_text_config(const struct yk_json *json, const struct yk_json **out)
{
    static const char key[] = "text_config";
    *out = yk_json_get_member(json, key);
    return yk_json_is_object(*out)
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "\"%s\" must be an object that describes the language model", key);
}

static yk_status read_config(const struct yk_json *json, struct yk_arena *arena,
                             struct yk_model_config *config)
{
    const char *name = config->name;
    const struct yk_json *outer = json;
    const struct yk_architecture *row = NULL;
    if (!yk_json_is_object(json)) {
        return yk_fail(YK_ERROR_INPUT, "a config.json is an object, not %s",
                       yk_json_type_name(json));
    }
    YK_TRY(find_architecture(json, &row));
    assert(row);
    *config = row->common;
    config->name = name;
    config->architecture = row;
    YK_TRY(row->text_family ? find_text_config(outer, &json) : YK_OK);
    YK_TRY(yk_config_fields_read(row->fields, json, config));
    YK_TRY(derive_sizes(json, config));
    YK_TRY(check_sizes(config));
    YK_TRY(read_activation(json, arena, config));
    YK_TRY(yk_config_fields_read_token_ids(yk_json_get_member(json, "eos_token_id") ? json : outer,
                                           config));
    YK_TRY(yk_config_rope_read(json, arena, config));
    YK_TRY(yk_config_blocks_read(json, arena, config));
    YK_TRY(row->read ? row->read(json, arena, config) : YK_OK);
    return check_sizes(config);
}

yk_status yk_config_parser_read(const struct yk_json *json, const char *source,
                                struct yk_arena *arena, const struct yk_model_config **out)
{
    struct yk_model_config *config = NULL;
    YK_TRY_NEW(arena, config, 1);
    config->name = yk_arena_copy_text(arena, source, strlen(source));
    YK_TRY_ALLOCATED(config->name);
    const yk_status status = read_config(json, arena, config);
    if (status != YK_OK) {
        return status == YK_ERROR_INPUT ? yk_status_prefix_message(status, source) : status;
    }
    *out = config;
    return YK_OK;
}
