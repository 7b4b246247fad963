/*
 * Word cache: the tokens of words that were encoded before. Short, middle and long words have a
 * fixed capacity each; when it is used up, all words of that kind are removed. Only one thread at a
 * time may use a cache.
 */
#ifndef YK_TOKENIZER_MODELS_WORD_CACHE_H
#define YK_TOKENIZER_MODELS_WORD_CACHE_H

#include "base/status.h"
#include "tokenizer/token_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_WORD_CACHE_MAX_BYTES = 236 /* longer words are not stored, because they rarely occur again */
};

struct yk_word_cache;

yk_status yk_word_cache_create(struct yk_word_cache **out) YK_MUST_USE;
void yk_word_cache_destroy(struct yk_word_cache *cache);

/* Looks up a word and appends its tokens to `out`. Returns false if the word is not in the cache.
 */
bool yk_word_cache_find(struct yk_word_cache *cache, const char *word, size_t length,
                        struct yk_token_ids *out);

/* Stores the tokens of a word that yk_word_cache_find() did not find. Does nothing if the word is
 * longer than YK_WORD_CACHE_MAX_BYTES, or if too many words have a similar hash. */
void yk_word_cache_store(struct yk_word_cache *cache, const char *word, size_t length,
                         const int32_t *ids, int64_t count);

#endif
