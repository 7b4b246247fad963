/*
 * Added tokens: tokens that are found in a text before it is cut into words, special ones
 * ("<|endoftext|>") and others, as the "added_tokens" of a tokenizer.json lists them. A normalized
 * one is found in the normalized text by the normalized form of its name, the others in the
 * original text.
 * They do not change once they are read: any number of threads may share them.
 */
#ifndef YK_TOKENIZER_ADDED_TOKENS_H
#define YK_TOKENIZER_ADDED_TOKENS_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/regex.h"
#include "tokenizer/token_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_added_tokens;

/*
 * Where the node is NULL or null there are none. A token that is in `map`, the model's, has its id
 * there; others are numbered on from the model's count, as Hugging Face's tokenizers do. A file
 * that says otherwise is refused.
 */
yk_status yk_added_tokens_read(const struct yk_json *node, const struct yk_token_map *map,
                               const struct yk_normalizer *normalizer,
                               struct yk_added_tokens **out) YK_MUST_USE;
void yk_added_tokens_destroy(struct yk_added_tokens *tokens);

/* The id of a token by its name, or −1. */
int32_t yk_added_tokens_find(const struct yk_added_tokens *tokens, const char *name, size_t length);

/* How many of them the model does not have, and one more than the largest id; 0 without any. */
int32_t yk_added_tokens_new_count(const struct yk_added_tokens *tokens);
int32_t yk_added_tokens_limit(const struct yk_added_tokens *tokens);

/* What a token is decoded as; NULL where the id is none of theirs. */
const char *yk_added_tokens_text(const struct yk_added_tokens *tokens, int32_t id, size_t *length);
bool yk_added_tokens_is_special(const struct yk_added_tokens *tokens, int32_t id);

/* A search through one text, from its beginning to its end. */
struct yk_added_tokens_search {
    const char *text;
    size_t length;
    bool normalized; /* the text was: those that are normalized are looked for */

    /* What was found last: text from `begin` to `end`, maybe none, that holds no token, and the
     * token behind it; −1: the text is done. */
    size_t begin;
    size_t end;
    int32_t id;

    size_t at;   /* the search continues from here */
    size_t done; /* up to here the text was found */
};

/* Starts as {.text, .length, .normalized}; each call advances to the next token: the leftmost, of
 * several the longest. */
yk_status yk_added_tokens_next(const struct yk_added_tokens *tokens,
                               struct yk_regex_workspace *workspace,
                               struct yk_added_tokens_search *search) YK_MUST_USE;

#endif
