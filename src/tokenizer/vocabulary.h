/*
 * Vocabulary: characters (Unicode code points) and their ids 0, 1, 2 …, in the order of the code
 * points, as nanoGPT numbers the characters of a text. Its file is {"yoke": 1, "kind":
 * "vocabulary", "characters": ["\n", " ", "!", …]}. A vocabulary does not change once it is made:
 * any number of threads may use one. The zero character is never in it.
 */
#ifndef YK_TOKENIZER_VOCABULARY_H
#define YK_TOKENIZER_VOCABULARY_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/token_ids.h"

#include <stddef.h>
#include <stdint.h>

struct yk_vocabulary;

/* Of the characters of UTF-8 text; `source` is what messages call it. */
yk_status yk_vocabulary_build(const char *text, size_t length, const char *source,
                              struct yk_vocabulary **out) YK_MUST_USE;

void yk_vocabulary_destroy(struct yk_vocabulary *vocabulary);

int32_t yk_vocabulary_count(const struct yk_vocabulary *vocabulary);
/* The id of a code point, or -1. */
int32_t yk_vocabulary_id(const struct yk_vocabulary *vocabulary, uint32_t character);

/* Adds the ids of UTF-8 text to `out`. A character that is not in the vocabulary is refused by its
 * line and column. */
yk_status yk_vocabulary_encode(const struct yk_vocabulary *vocabulary, const char *text,
                               size_t length, const char *source,
                               struct yk_token_ids *out) YK_MUST_USE;

/* Adds the characters of `count` ids to `out`. */
yk_status yk_vocabulary_decode(const struct yk_vocabulary *vocabulary, const int32_t *ids,
                               int64_t count, struct yk_text *out) YK_MUST_USE;

/* The sentence about the character at `text` + `at`, which is not in the vocabulary. */
yk_status yk_vocabulary_fail_unknown(const char *text, size_t length, size_t at,
                                     const char *source) YK_MUST_USE;

/* Adds the vocabulary's file to `out`. */
yk_status yk_vocabulary_write(const struct yk_vocabulary *vocabulary,
                              struct yk_text *out) YK_MUST_USE;
yk_status yk_vocabulary_read(const char *bytes, size_t length, const char *source,
                             struct yk_vocabulary **out) YK_MUST_USE;

#endif
