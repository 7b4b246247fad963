/*
 * Character vocabulary: the characters (Unicode code points) of a text and their ids 0, 1, 2 …, in
 * the order of the code points, as in nanoGPT. A vocabulary never contains U+0000. It is immutable:
 * any number of threads may use it. The vocabulary file has this format:
 *
 *   {"yoke": 1, "kind": "vocabulary", "characters": ["\n", " ", "!", …]}
 */
#ifndef YK_TOKENIZER_CHARACTER_VOCABULARY_H
#define YK_TOKENIZER_CHARACTER_VOCABULARY_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/token_ids.h"

#include <stddef.h>
#include <stdint.h>

struct yk_character_vocabulary;

/* Collects the characters of UTF-8 text. `source` is the prefix of error messages. */
yk_status yk_character_vocabulary_build(const char *text, size_t length, const char *source,
                                        struct yk_character_vocabulary **out) YK_MUST_USE;

void yk_character_vocabulary_destroy(struct yk_character_vocabulary *vocabulary);

int32_t yk_character_vocabulary_count(const struct yk_character_vocabulary *vocabulary);
/* Returns the id of a character, or -1 if the character is not in the vocabulary. */
int32_t yk_character_vocabulary_find_id(const struct yk_character_vocabulary *vocabulary,
                                        uint32_t character);

/* Appends the ids of UTF-8 text to `out`. Fails if a character is not in the vocabulary; the
 * message contains the line and the column of the character. */
yk_status yk_character_vocabulary_encode(const struct yk_character_vocabulary *vocabulary,
                                         const char *text, size_t length, const char *source,
                                         struct yk_token_ids *out) YK_MUST_USE;

/* Appends the characters of `count` ids to `out`. Ids that are out of range are skipped. */
yk_status yk_character_vocabulary_decode(const struct yk_character_vocabulary *vocabulary,
                                         const int32_t *ids, int64_t count,
                                         struct yk_text *out) YK_MUST_USE;

/* Always fails, with a message about the character at `text` + `at`, which is not in the
 * vocabulary. */
yk_status yk_character_vocabulary_unknown_error(const char *text, size_t length, size_t at,
                                                const char *source) YK_MUST_USE;

/* Appends the contents of the vocabulary file to `out`. */
yk_status yk_character_vocabulary_to_json(const struct yk_character_vocabulary *vocabulary,
                                          struct yk_text *out) YK_MUST_USE;
yk_status yk_character_vocabulary_parse(const char *bytes, size_t length, const char *source,
                                        struct yk_character_vocabulary **out) YK_MUST_USE;

#endif
