/* Reading a config.json: whose it is, its sizes, and whether they can be counted. */
#include "base/json.h"
#include "base/text.h"
#include "model/architecture.h"
#include "model/config.h"

#include <inttypes.h>
#include <string.h>

enum {
    MOST_LAYERS = 10000
};

static const double MOST_PARAMETERS = 0x1p50;

static bool is_among(const char *word, const char *const *words)
{
    while (word && *words && strcmp(word, *words) != 0) {
        words++;
    }
    return word && *words;
}

static yk_status fail_unknown(const char *class, const char *type)
{
    struct yk_text known = {0};
    for (size_t i = 0; i < yk_architecture_count; i++) {
        for (const char *const *name = yk_architectures[i]->classes; *name; name++) {
            yk_text_addf(&known, known.length > 0 ? ", %s" : "%s", *name);
        }
    }
    const yk_status status =
        class || type
            ? yk_fail(YK_ERROR_INPUT, "the architecture \"%s\" is not known; known are %s",
                      class ? class : type, yk_text_chars(&known))
            : yk_fail(YK_ERROR_INPUT,
                      "neither \"architectures\" nor \"model_type\" says what model this is; known "
                      "are %s",
                      yk_text_chars(&known));
    yk_text_free(&known);
    return status;
}

/* A class that is not known has a head of its own, so its type does not help. */
static yk_status find_architecture(const struct yk_json *json, const struct yk_architecture **out)
{
    const struct yk_json *list = yk_json_get(json, "architectures");
    const struct yk_json *type_node = yk_json_get(json, "model_type");
    if (list && !yk_json_is_null(list) && !yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"architectures\" must be a list of names, not %s",
                       yk_json_kind(list));
    }
    if (type_node && !yk_json_string(type_node)) {
        return yk_fail(YK_ERROR_INPUT, "\"model_type\" must be a string, not %s",
                       yk_json_kind(type_node));
    }
    const struct yk_json *first = yk_json_at(list, 0);
    const char *class = yk_json_string(first);
    const char *type = yk_json_string(type_node);
    if (first && !class) {
        return yk_fail(YK_ERROR_INPUT, "\"architectures\" must be a list of names, not of %s",
                       yk_json_kind(first));
    }
    for (size_t i = 0; i < yk_architecture_count; i++) {
        if (class ? is_among(class, yk_architectures[i]->classes)
                  : is_among(type, yk_architectures[i]->model_types)) {
            *out = yk_architectures[i];
            return YK_OK;
        }
    }
    return fail_unknown(class, type);
}

/* Sizes were checked one by one; together they must not make more than can be counted. */
static yk_status check_sizes(const struct yk_model_config *config)
{
    const double width = (double)config->width;
    const double attended = (double)config->heads * (double)config->head_size;
    const double tokens =
        (double)config->vocabulary + (double)yk_model_config_target_vocabulary(config);
    const double rows = 2 * tokens + (double)config->token_types +
                        (config->architecture->position_table ? 2 * (double)config->positions : 0);
    const double blocks = (double)config->layers + (double)config->encoder_layers;
    const double inner = (double)config->inner + (double)config->encoder_inner;
    const double parameters = width * (rows + blocks * (8 * attended + 3 * inner));
    if (config->layers > MOST_LAYERS || config->encoder_layers > MOST_LAYERS) {
        return yk_fail(YK_ERROR_INPUT, "%" PRId64 " blocks are too many; at most %d are counted",
                       config->layers > config->encoder_layers ? config->layers
                                                               : config->encoder_layers,
                       MOST_LAYERS);
    }
    if (parameters > MOST_PARAMETERS) {
        return yk_fail(YK_ERROR_INPUT,
                       "these sizes together make about %.2g parameters; at most %.2g are counted",
                       parameters, MOST_PARAMETERS);
    }
    return YK_OK;
}

static yk_status read_root(const struct yk_json *json, struct yk_model_config *config)
{
    if (!yk_json_is_object(json)) {
        return yk_fail(YK_ERROR_INPUT, "a config.json is an object, not %s", yk_json_kind(json));
    }
    YK_TRY(find_architecture(json, &config->architecture));
    YK_TRY(config->architecture->read(json, config));
    return check_sizes(config);
}

yk_status yk_model_config_read(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, const struct yk_model_config **out)
{
    struct yk_model_config *config = NULL;
    YK_TRY_NEW(arena, config, 1);
    config->name = yk_arena_copy_text(arena, source, strlen(source));
    if (!config->name) {
        return yk_fail_out_of_memory();
    }
    struct yk_json *json = NULL;
    yk_status status = yk_json_parse(text, length, &json);
    if (status == YK_OK) {
        status = read_root(json, config);
        yk_json_destroy(json);
    }
    if (status != YK_OK) {
        return status == YK_ERROR_INPUT ? yk_status_prefix(status, source) : status;
    }
    *out = config;
    return YK_OK;
}
