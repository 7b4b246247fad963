#include "model/config.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "base/text.h"
#include "model/architecture.h"
#include "model/config_fields.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum {
    MAX_LAYERS = 10000,
    MAX_BUILTINS = 64,
};

static const double MAX_PARAMETERS = 0x1p50;

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
    for (size_t i = 0; i < yk_architecture_count; i++) {
        if (class ? yk_config_fields_names_contain(class, yk_architectures[i]->classes)
                  : yk_config_fields_names_contain(type, yk_architectures[i]->model_types)) {
            *out = yk_architectures[i];
            return YK_OK;
        }
    }
    return fail_unknown(class, type);
}

/* Checks that the number of parameters does not overflow. */
static yk_status check_sizes(const struct yk_model_config *config)
{
    const double width = (double)config->width;
    const double attended = (double)config->heads * (double)config->head_size;
    const double tokens =
        (double)config->vocabulary + (double)yk_model_config_target_vocabulary_size(config);
    const double rows = 2 * tokens + (double)config->token_types +
                        (config->architecture->position_table ? 2 * (double)config->positions : 0);
    const double blocks = (double)config->layers + (double)config->encoder_layers;
    const double inner = (double)config->feed_forward_width + (double)config->encoder_inner;
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

static yk_status read_config(const struct yk_json *json, struct yk_model_config *config)
{
    if (!yk_json_is_object(json)) {
        return yk_fail(YK_ERROR_INPUT, "a config.json is an object, not %s",
                       yk_json_type_name(json));
    }
    YK_TRY(find_architecture(json, &config->architecture));
    YK_TRY(config->architecture->read_config(json, config));
    return check_sizes(config);
}

yk_status yk_model_config_parse(const char *text, size_t length, const char *source,
                                struct yk_arena *arena, const struct yk_model_config **out)
{
    struct yk_model_config *config = NULL;
    YK_TRY_NEW(arena, config, 1);
    config->name = yk_arena_copy_text(arena, source, strlen(source));
    YK_TRY_ALLOCATED(config->name);
    struct yk_json *json = NULL;
    yk_status status = yk_json_parse(text, length, &json);
    if (status == YK_OK) {
        status = read_config(json, config);
        yk_json_destroy(json);
    }
    if (status != YK_OK) {
        return status == YK_ERROR_INPUT ? yk_status_prefix_message(status, source) : status;
    }
    *out = config;
    return YK_OK;
}

/* The next letter in lower case. Names are compared without case and without "-_.". */
static char next_letter(const char **word)
{
    while (**word && strchr("-_.", **word)) {
        (*word)++;
    }
    const char letter = (char)tolower((unsigned char)**word);
    *word += letter != '\0';
    return letter;
}

static bool same_name(const char *a, const char *b)
{
    for (;;) {
        const char left = next_letter(&a);
        const char right = next_letter(&b);
        if (left != right) {
            return false;
        }
        if (left == '\0') {
            return true;
        }
    }
}

static bool has_name(const struct yk_builtin_model *builtin, const char *name)
{
    bool found = same_name(builtin->config.name, name);
    for (int i = 0; i < YK_BUILTIN_MAX_ALIASES && builtin->aliases[i]; i++) {
        found = found || same_name(builtin->aliases[i], name);
    }
    return found;
}

static const struct yk_model_config *find(const char *name)
{
    for (size_t i = 0; i < yk_builtin_model_count; i++) {
        if (has_name(&yk_builtin_models[i], name)) {
            return &yk_builtin_models[i].config;
        }
    }
    return NULL;
}

yk_status yk_model_config_find_builtin(const char *name, const struct yk_model_config **out)
{
    const struct yk_model_config *found = find(name);
    if (found) {
        *out = found;
        return YK_OK;
    }
    const char *names[MAX_BUILTINS];
    size_t count = 0;
    for (; count < yk_builtin_model_count && count < MAX_BUILTINS; count++) {
        names[count] = yk_builtin_models[count].config.name;
    }
    const char *nearest = yk_nearest_name(name, names, count);
    if (nearest) {
        return yk_fail(YK_ERROR_INPUT, "no built-in model is called \"%s\"; did you mean \"%s\"?",
                       name, nearest);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "no built-in model is called \"%s\"; yoke model lists them, and takes a "
                   "config.json as well",
                   name);
}

static bool is_json_file(const char *word)
{
    const char *extension = strrchr(word, '.');
    return extension && strcmp(extension, ".json") == 0;
}

/* Finds a built-in model by a published name: "meta-llama/Meta-Llama-3-8B". */
static const struct yk_model_config *find_published(const char *word)
{
    const char *slash = strchr(word, '/');
    const bool path = word[0] == '.' || word[0] == '/' || strchr(slash + 1, '/');
    return path ? NULL : find(slash + 1);
}

static yk_status read_file(const char *path, struct yk_arena *arena,
                           const struct yk_model_config **out)
{
    struct yk_text text = {0};
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(yk_model_config_parse(yk_text_chars(&text), text.length, path, arena, out));
    yk_text_free(&text);
    return status;
}

/* Reads a file, or the config.json of a folder. */
static yk_status read_path(const char *path, struct yk_arena *arena,
                           const struct yk_model_config **out)
{
    const char *file = path;
    if (yk_folder_exists(path)) {
        YK_TRY(yk_folder_join_path(path, "config.json", arena, &file));
    }
    return read_file(file, arena, out);
}

bool yk_model_config_name_is_path(const char *word)
{
    return is_json_file(word) || (strchr(word, '/') && !find_published(word));
}

yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out)
{
    if (is_json_file(word)) {
        return read_file(word, arena, out);
    }
    if (!strchr(word, '/')) {
        return yk_model_config_find_builtin(word, out);
    }
    const struct yk_model_config *published = find_published(word);
    if (published) {
        *out = published;
        return YK_OK;
    }
    return read_path(word, arena, out);
}
