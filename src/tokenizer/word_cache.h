/*
 * Word cache: the tokens of words that were encoded before. It holds a bounded number of words and
 * is emptied when it is full. One thread at a time.
 */
#ifndef YK_TOKENIZER_WORD_CACHE_H
#define YK_TOKENIZER_WORD_CACHE_H

#include "base/status.h"
#include "tokenizer/token_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_WORD_CACHE_MAX_BYTES = 46 /* of a word that is kept; longer ones seldom come again */
};

struct yk_word_cache;

yk_status yk_word_cache_create(struct yk_word_cache **out) YK_MUST_USE;
void yk_word_cache_destroy(struct yk_word_cache *cache);

/* Adds the tokens of a word to `out`; false where the word is not known. */
bool yk_word_cache_find(struct yk_word_cache *cache, const char *word, size_t length,
                        struct yk_token_ids *out);

/* Keeps the tokens of the word that was last looked for and not found; of some, nothing is kept. */
void yk_word_cache_store(struct yk_word_cache *cache, const char *word, size_t length,
                         const int32_t *ids, int64_t count);

#endif
