#include "tokenizer/token_map.h"

#include "base/array.h"
#include "base/name_index.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    FIRST_IDS = 1 << 6,
    SHOWN_COLUMNS = 80 /* of a token in messages */
};

struct yk_token_map {
    struct yk_name_index *tokens;
    int32_t *ids; /* by the number of a token */
    int32_t capacity;
    int32_t *by_id; /* numbers of tokens; −1 means: none */
    int32_t id_capacity;
    int32_t limit;
};

yk_status yk_token_map_create(struct yk_token_map **out)
{
    struct yk_token_map *map = calloc(1, sizeof *map);
    YK_TRY_ALLOCATED(map);
    YK_TRY_OR_CLEAN_UP(yk_name_index_create(&map->tokens), free(map));
    *out = map;
    return YK_OK;
}

void yk_token_map_destroy(struct yk_token_map *map)
{
    if (map) {
        yk_name_index_destroy(map->tokens);
        free(map->ids);
        free(map->by_id);
        free(map);
    }
}

/* Extends `by_id` to contain `id`. */
static yk_status widen_ids(struct yk_token_map *map, int32_t id)
{
    if (id >= map->id_capacity) {
        const int32_t capacity =
            id < YK_TOKEN_MAP_MAX_TOKENS / 2 ? 2 * id + FIRST_IDS : YK_TOKEN_MAP_MAX_TOKENS;
        int32_t *by_id = realloc(map->by_id, (size_t)capacity * sizeof *by_id);
        YK_TRY_ALLOCATED(by_id);
        map->by_id = by_id;
        map->id_capacity = capacity;
    }
    for (; map->limit <= id; map->limit++) {
        map->by_id[map->limit] = -1;
    }
    return YK_OK;
}

static yk_status check_new(const struct yk_token_map *map, const char *token, size_t length,
                           int64_t id)
{
    size_t ignored = 0;
    const int shown = length < SHOWN_COLUMNS ? (int)length : SHOWN_COLUMNS;
    if (id < 0 || id >= YK_TOKEN_MAP_MAX_TOKENS) {
        return yk_fail(YK_ERROR_INPUT,
                       "the id of \"%.*s\" is %" PRId64 ", where 0 to %d are allowed", shown, token,
                       id, YK_TOKEN_MAP_MAX_TOKENS - 1);
    }
    if (yk_token_map_find_id(map, token, length) >= 0) {
        return yk_fail(YK_ERROR_INPUT, "the token \"%.*s\" stands there twice", shown, token);
    }
    const char *other = yk_token_map_get_token(map, (int32_t)id, &ignored);
    if (other) {
        return yk_fail(YK_ERROR_INPUT, "\"%.*s\" and \"%.*s\" have the same id, %" PRId64,
                       SHOWN_COLUMNS, other, shown, token, id);
    }
    return YK_OK;
}

yk_status yk_token_map_add(struct yk_token_map *map, const char *token, size_t length, int64_t id)
{
    bool added = false;
    int32_t number = 0;
    YK_TRY(check_new(map, token, length, id));
    YK_TRY_GROW_ARRAY(map->ids, map->capacity, yk_name_index_count(map->tokens));
    YK_TRY(widen_ids(map, (int32_t)id));
    YK_TRY(yk_name_index_add_bytes(map->tokens, token, length, &added, &number));
    map->ids[number] = (int32_t)id;
    map->by_id[id] = number;
    return YK_OK;
}

int32_t yk_token_map_find_id(const struct yk_token_map *map, const char *token, size_t length)
{
    const int32_t number = yk_name_index_find_bytes(map->tokens, token, length);
    return number < 0 ? -1 : map->ids[number];
}

const char *yk_token_map_get_token(const struct yk_token_map *map, int32_t id, size_t *length)
{
    const int32_t number = id >= 0 && id < map->limit ? map->by_id[id] : -1;
    if (number < 0) {
        return NULL;
    }
    *length = yk_name_index_name_length(map->tokens, number);
    return yk_name_index_name(map->tokens, number);
}

int32_t yk_token_map_id_limit(const struct yk_token_map *map)
{
    return map->limit;
}

int32_t yk_token_map_count(const struct yk_token_map *map)
{
    return yk_name_index_count(map->tokens);
}

yk_status yk_token_map_measure_tokens(const struct yk_token_map *map, size_t most, size_t *longest)
{
    *longest = 0;
    for (int32_t id = 0; id < map->limit; id++) {
        size_t length = 0;
        const char *token = yk_token_map_get_token(map, id, &length);
        if (token && length > most) {
            return yk_fail(YK_ERROR_INPUT,
                           "the token \"%.32s…\" has %zu bytes; at most %zu are known", token,
                           length, most);
        }
        *longest = token && length > *longest ? length : *longest;
    }
    return YK_OK;
}
