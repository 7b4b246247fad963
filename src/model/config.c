#include "model/config.h"

#include "base/file.h"
#include "base/nearest.h"
#include "model/builtin.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_BUILTINS = 64
};

bool yk_model_config_builtin(size_t number, const char **name, const char **summary)
{
    if (number >= yk_builtin_model_count) {
        return false;
    }
    *name = yk_builtin_models[number].config.name;
    *summary = yk_builtin_models[number].summary;
    return true;
}

/* The next character that tells names apart, in lower case: case and "-_." do not. */
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

static bool goes_by(const struct yk_builtin_model *builtin, const char *name)
{
    bool found = same_name(builtin->config.name, name);
    for (int i = 0; i < YK_BUILTIN_ALIASES && builtin->aliases[i]; i++) {
        found = found || same_name(builtin->aliases[i], name);
    }
    return found;
}

static const struct yk_model_config *find(const char *name)
{
    for (size_t i = 0; i < yk_builtin_model_count; i++) {
        if (goes_by(&yk_builtin_models[i], name)) {
            return &yk_builtin_models[i].config;
        }
    }
    return NULL;
}

yk_status yk_model_config_find(const char *name, const struct yk_model_config **out)
{
    const struct yk_model_config *found = find(name);
    if (found) {
        *out = found;
        return YK_OK;
    }
    const char *names[MOST_BUILTINS];
    size_t count = 0;
    for (; count < yk_builtin_model_count && count < MOST_BUILTINS; count++) {
        names[count] = yk_builtin_models[count].config.name;
    }
    const char *nearest = yk_nearest(name, names, count);
    if (nearest) {
        return yk_fail(YK_ERROR_INPUT, "no built-in model is called \"%s\"; did you mean \"%s\"?",
                       name, nearest);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "no built-in model is called \"%s\"; yoke model lists them, and takes a "
                   "config.json as well",
                   name);
}

static bool ends_in(const char *word, const char *ending)
{
    const size_t length = strlen(word);
    const size_t wanted = strlen(ending);
    return length >= wanted && strcmp(word + length - wanted, ending) == 0;
}

/* "meta-llama/Meta-Llama-3-8B": an owner and a name, as models are published. */
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
    yk_status status = yk_file_read(path, &text);
    if (status == YK_OK) {
        status = yk_model_config_read(yk_text_chars(&text), text.length, path, arena, out);
    }
    yk_text_free(&text);
    return status;
}

/* A model's folder, as Hugging Face keeps one, is known by its config.json. */
static yk_status read_path(const char *path, struct yk_arena *arena,
                           const struct yk_model_config **out)
{
    struct stat found;
    struct yk_text inside = {0};
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return read_file(path, arena, out);
    }
    yk_text_addf(&inside, "%s/config.json", path);
    yk_status status = yk_text_status(&inside);
    if (status == YK_OK) {
        status = read_file(yk_text_chars(&inside), arena, out);
    }
    yk_text_free(&inside);
    return status;
}

bool yk_model_config_is_path(const char *word)
{
    return ends_in(word, ".json") || (strchr(word, '/') && !find_published(word));
}

yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out)
{
    if (ends_in(word, ".json")) {
        return read_file(word, arena, out);
    }
    if (!strchr(word, '/')) {
        return yk_model_config_find(word, out);
    }
    const struct yk_model_config *published = find_published(word);
    if (published) {
        *out = published;
        return YK_OK;
    }
    return read_path(word, arena, out);
}
