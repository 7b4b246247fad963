#include "model/builtin.h"

#include "model/config_parser.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

static struct {
    pthread_once_t once;
    yk_status status;
    struct yk_arena *arena;
    struct yk_builtin_model *models;
    size_t count;
} builtins = {.once = PTHREAD_ONCE_INIT};

static yk_status read_model(const struct yk_json *json, struct yk_arena *arena,
                            struct yk_builtin_model *out)
{
    const struct yk_json *list = yk_json_get_member(json, "aliases");
    const size_t count = yk_json_array_count(list);
    const char *name = yk_json_string_value(yk_json_get_member(json, "name"));
    const char **aliases = NULL;
    YK_TRY_NEW(arena, aliases, count + 1);
    for (size_t i = 0; i < count; i++) {
        YK_TRY(
            yk_arena_strdup(arena, yk_json_string_value(yk_json_array_at(list, i)), &aliases[i]));
    }
    out->aliases = aliases;
    YK_TRY(yk_arena_strdup(arena, yk_json_string_value(yk_json_get_member(json, "summary")),
                           &out->summary));
    return yk_config_parser_read(yk_json_get_member(json, "config"), name, arena, &out->config);
}

static yk_status read_models(const struct yk_json *json)
{
    builtins.count = yk_json_array_count(json);
    YK_TRY_NEW(builtins.arena, builtins.models, builtins.count);
    for (size_t i = 0; i < builtins.count; i++) {
        YK_TRY(read_model(yk_json_array_at(json, i), builtins.arena, &builtins.models[i]));
    }
    return YK_OK;
}

static yk_status load(void)
{
    struct yk_json *json = NULL;
    YK_TRY(yk_arena_create(&builtins.arena));
    YK_TRY(yk_json_parse(yk_builtin_models_json, strlen(yk_builtin_models_json), &json));
    const yk_status status = read_models(json);
    yk_json_destroy(json);
    return status;
}

static void load_once(void)
{
    builtins.status = load();
    assert(builtins.status != YK_ERROR_INPUT); /* the file is a part of the program */
}

void yk_builtin_models_free(void)
{
    yk_arena_destroy(builtins.arena);
    builtins.arena = NULL;
}

yk_status yk_builtin_models_get(const struct yk_builtin_model **out, size_t *count)
{
    (void)pthread_once(&builtins.once, load_once);
    if (builtins.status != YK_OK) {
        return yk_fail_out_of_memory();
    }
    *out = builtins.models;
    *count = builtins.count;
    return YK_OK;
}
