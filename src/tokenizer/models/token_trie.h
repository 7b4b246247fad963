/*
 * Token trie: finds all tokens that a text begins with, from the shortest to the longest. A trie is
 * immutable: any number of threads may share it. It keeps pointers to the tokens, which must
 * outlive it.
 */
#ifndef YK_TOKENIZER_MODELS_TOKEN_TRIE_H
#define YK_TOKENIZER_MODELS_TOKEN_TRIE_H

#include "base/status.h"
#include "tokenizer/token_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_token_trie;

/* Creates a trie of all tokens of a map but the empty one. */
yk_status yk_token_trie_create(const struct yk_token_map *map,
                               struct yk_token_trie **out) YK_MUST_USE;
void yk_token_trie_destroy(struct yk_token_trie *trie);

/* The state of a search at one place of a text. Initialize it with {.text, .length}. */
struct yk_token_trie_search {
    const char *text;
    size_t length; /* from `text` to its end */

    int32_t id;   /* the last result */
    size_t found; /* the length of the token */

    size_t at;    /* internal: bytes that led to the node */
    int32_t node; /* internal */
};

/* Finds the next longer token. Returns false if there is none. */
bool yk_token_trie_find_next(const struct yk_token_trie *trie, struct yk_token_trie_search *search);

#endif
