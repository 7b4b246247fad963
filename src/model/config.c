#include "model/config.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/nearest_name.h"
#include "model/builtin.h"
#include "model/config_parser.h"

#include <ctype.h>
#include <string.h>

enum {
    MAX_BUILTINS = 128
};

yk_status yk_model_config_parse(const char *text, size_t length, const char *source,
                                struct yk_arena *arena, const struct yk_model_config **out)
{
    struct yk_json *json = NULL;
    yk_status status = yk_json_parse(text, length, &json);
    if (status != YK_OK) {
        return status == YK_ERROR_INPUT ? yk_status_prefix_message(status, source) : status;
    }
    status = yk_config_parser_read(json, source, arena, out);
    yk_json_destroy(json);
    return status;
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

/* Finds a built-in model by one of its names; NULL if there is none. */
static yk_status find(const char *name, const struct yk_model_config **out)
{
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    *out = NULL;
    YK_TRY(yk_builtin_models_get(&models, &count));
    for (size_t i = 0; i < count; i++) {
        bool found = same_name(models[i].config->name, name);
        for (const char *const *alias = models[i].aliases; *alias && !found; alias++) {
            found = same_name(*alias, name);
        }
        if (found) {
            *out = models[i].config;
            return YK_OK;
        }
    }
    return YK_OK;
}

yk_status yk_model_config_find_builtin(const char *name, const struct yk_model_config **out)
{
    const struct yk_model_config *found = NULL;
    const struct yk_builtin_model *models = NULL;
    const char *names[MAX_BUILTINS];
    size_t count = 0;
    YK_TRY(find(name, &found));
    if (found) {
        *out = found;
        return YK_OK;
    }
    YK_TRY(yk_builtin_models_get(&models, &count));
    for (size_t i = 0; i < count && i < MAX_BUILTINS; i++) {
        names[i] = models[i].config->name;
    }
    const char *nearest = yk_nearest_name(name, names, count < MAX_BUILTINS ? count : MAX_BUILTINS);
    if (nearest) {
        return yk_fail(YK_ERROR_INPUT, "no built-in model is called \"%s\"; did you mean \"%s\"?",
                       name, nearest);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "no built-in model is called \"%s\"; yoke model lists them, and takes a "
                   "config.json or a folder with one as well",
                   name);
}

static bool is_json_file(const char *word)
{
    const char *extension = strrchr(word, '.');
    return extension && strcmp(extension, ".json") == 0;
}

/* Finds a built-in model by a published name: "meta-llama/Meta-Llama-3-8B"; NULL if there is
 * none. */
static yk_status find_published(const char *word, const struct yk_model_config **out)
{
    const char *slash = strchr(word, '/');
    const bool path = word[0] == '.' || word[0] == '/' || strchr(slash + 1, '/');
    *out = NULL;
    return path ? YK_OK : find(slash + 1, out);
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

/* Finds a built-in model by its name or its published name; NULL if there is none. */
static yk_status find_named(const char *word, const struct yk_model_config **out)
{
    return strchr(word, '/') ? find_published(word, out) : find(word, out);
}

/* Whether a word that is not the name of a model is a path. */
static bool is_path(const char *word)
{
    return strchr(word, '/') || yk_folder_exists(word);
}

bool yk_model_config_name_is_path(const char *word)
{
    const struct yk_model_config *named = NULL;
    return is_json_file(word) || (is_path(word) && find_named(word, &named) == YK_OK && !named);
}

yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out)
{
    if (is_json_file(word)) {
        return read_file(word, arena, out);
    }
    const struct yk_model_config *named = NULL;
    YK_TRY(find_named(word, &named));
    if (named) {
        *out = named;
        return YK_OK;
    }
    return is_path(word) ? read_path(word, arena, out) : yk_model_config_find_builtin(word, out);
}
