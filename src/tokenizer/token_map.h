/*
 * Token map: tokens by their ids and ids by their tokens. A token is a string of bytes, which the
 * map copies. While tokens are added a map belongs to one thread; afterwards any number of threads
 * may read it.
 */
#ifndef YK_TOKENIZER_TOKEN_MAP_H
#define YK_TOKENIZER_TOKEN_MAP_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    /* Ids are below: what stands by id is an array, which a file of a few bytes must not make
     * large. The largest vocabularies there are have about a million tokens. */
    YK_TOKEN_MAP_MAX_TOKENS = 1 << 22
};

struct yk_token_map;

yk_status yk_token_map_create(struct yk_token_map **out) YK_MUST_USE;
void yk_token_map_destroy(struct yk_token_map *map);

/* Adds a token. One that is there already, an id that is, and one out of range are refused. */
yk_status yk_token_map_add(struct yk_token_map *map, const char *token, size_t length,
                           int64_t id) YK_MUST_USE;

/* The id of a token, or −1. */
int32_t yk_token_map_find(const struct yk_token_map *map, const char *token, size_t length);

/* The token of an id, ended by a zero, and its length; NULL where there is none. It stays until the
 * next addition. */
const char *yk_token_map_token(const struct yk_token_map *map, int32_t id, size_t *length);

/* One more than the largest id; 0 of an empty map. */
int32_t yk_token_map_limit(const struct yk_token_map *map);

/* How many tokens there are: less than the limit where ids are left out. */
int32_t yk_token_map_count(const struct yk_token_map *map);

#endif
