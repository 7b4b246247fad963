/*
 * Added tokens: the "added_tokens" of a tokenizer.json, special ones ("<|endoftext|>") and others.
 * They are located in a text before the rest of it is split into words. A normalized token is
 * located in the normalized text by its normalized name, any other token in the original text.
 * Added tokens are immutable: any number of threads may share them.
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
 * Reads the list. There are no tokens if the node is NULL or null. A token that is in `map`, the
 * vocabulary of the model, has the id from there. New tokens get the ids after the vocabulary, as
 * in Hugging Face's tokenizers. Fails if the file contains other ids.
 */
yk_status yk_added_tokens_read(const struct yk_json *node, const struct yk_token_map *map,
                               const struct yk_normalizer *normalizer,
                               struct yk_added_tokens **out) YK_MUST_USE;
void yk_added_tokens_destroy(struct yk_added_tokens *tokens);

/* The id of the token called `name`, or -1. */
int32_t yk_added_tokens_find(const struct yk_added_tokens *tokens, const char *name, size_t length);

/* How many tokens are not in the vocabulary of the model, and the largest id + 1 (0 if there are no
 * tokens). */
int32_t yk_added_tokens_new_count(const struct yk_added_tokens *tokens);
int32_t yk_added_tokens_id_limit(const struct yk_added_tokens *tokens);

/* The text that a token decodes to, or NULL if `id` is not an added token. */
const char *yk_added_tokens_text(const struct yk_added_tokens *tokens, int32_t id, size_t *length);
bool yk_added_tokens_is_special(const struct yk_added_tokens *tokens, int32_t id);

/* A search through one text, from its beginning to its end. */
struct yk_added_tokens_search {
    const char *text;
    size_t length;
    bool normalized; /* the text is normalized: search for normalized tokens only */

    /* The last result: a token-free part of the text from `begin` to `end`, which may be empty, and
     * the id of the token after it. -1 means: the text ends there. */
    size_t begin;
    size_t end;
    int32_t id;

    size_t at;   /* internal: the search continues here */
    size_t done; /* internal: everything before was returned */
};

/* Advances to the next token: the leftmost, and of several the longest. Initialize the search with
 * {.text, .length, .normalized}. */
yk_status yk_added_tokens_next(const struct yk_added_tokens *tokens,
                               struct yk_regex_workspace *workspace,
                               struct yk_added_tokens_search *search) YK_MUST_USE;

#endif
