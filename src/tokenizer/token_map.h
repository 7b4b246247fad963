/*
 * Token map: the two-way mapping between tokens and ids. A token is a string of bytes, which the
 * map copies. While tokens are added, one thread may use a map; afterwards any number of threads
 * may read it.
 */
#ifndef YK_TOKENIZER_TOKEN_MAP_H
#define YK_TOKENIZER_TOKEN_MAP_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    /* Ids are below this. The map has an array indexed by id, which a small file must not make
     * huge. The largest known vocabularies have about a million tokens. */
    YK_TOKEN_MAP_MAX_TOKENS = 1 << 22
};

struct yk_token_map;

yk_status yk_token_map_create(struct yk_token_map **out) YK_MUST_USE;
void yk_token_map_destroy(struct yk_token_map *map);

/* Adds a token. Fails if the token or the id already exists, or if the id is out of range. */
yk_status yk_token_map_add(struct yk_token_map *map, const char *token, size_t length,
                           int64_t id) YK_MUST_USE;

/* The id of a token, or -1. */
int32_t yk_token_map_find(const struct yk_token_map *map, const char *token, size_t length);

/* The token with that id, zero-terminated, and its length; NULL if there is none. Valid until the
 * next addition. */
const char *yk_token_map_token(const struct yk_token_map *map, int32_t id, size_t *length);

/* The largest id + 1; 0 for an empty map. */
int32_t yk_token_map_id_limit(const struct yk_token_map *map);

/* The number of tokens. It is below the limit if some ids are unused. */
int32_t yk_token_map_count(const struct yk_token_map *map);

#endif
