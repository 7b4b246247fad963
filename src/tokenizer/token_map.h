/*
 * Token map: the two-way mapping between tokens and ids. A token is a string of bytes, which the
 * map copies. While tokens are added, only one thread may use a map. Afterwards, any number of
 * threads may read it.
 */
#ifndef YK_TOKENIZER_TOKEN_MAP_H
#define YK_TOKENIZER_TOKEN_MAP_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    /* All ids are below this limit, because the map has an array indexed by id: without a limit, a
     * small file with one large id could make the array huge. The largest known vocabularies have
     * about a million tokens. */
    YK_TOKEN_MAP_MAX_TOKENS = 1 << 22
};

struct yk_token_map;

yk_status yk_token_map_create(struct yk_token_map **out) YK_MUST_USE;
void yk_token_map_destroy(struct yk_token_map *map);

/* Adds a token. Fails if the token or the id already exists, or if the id is out of range. */
yk_status yk_token_map_add(struct yk_token_map *map, const char *token, size_t length,
                           int64_t id) YK_MUST_USE;

/* Returns the id of a token, or -1 if the token is not in the map. */
int32_t yk_token_map_find_id(const struct yk_token_map *map, const char *token, size_t length);

/* Returns the token with this id, zero-terminated, and sets `*length`. Returns NULL if no token has
 * this id. The pointer is valid until another token is added. */
const char *yk_token_map_get_token(const struct yk_token_map *map, int32_t id, size_t *length);

/* Returns the largest id + 1, or 0 if the map is empty. */
int32_t yk_token_map_id_limit(const struct yk_token_map *map);

/* Returns the number of tokens. If some ids are unused, this is less than yk_token_map_id_limit().
 */
int32_t yk_token_map_count(const struct yk_token_map *map);

/* Sets `*longest` to the bytes of the longest token. Fails if they are more than `most`. */
yk_status yk_token_map_measure_tokens(const struct yk_token_map *map, size_t most,
                                      size_t *longest) YK_MUST_USE;

#endif
