/*
 * Pre-tokenizer: splits a text into words, which the model then converts to tokens. The
 * "pre_tokenizer" of a tokenizer.json defines how: ByteLevel, Split, BertPreTokenizer or a Sequence
 * of these. In a Sequence, each element splits the words that the previous element found; ByteLevel
 * can only be the last element. Any other type is an error.
 *
 * A pre-tokenizer is immutable: any number of threads may share it. Each thread needs its own
 * workspace.
 */
#ifndef YK_TOKENIZER_PRE_TOKENIZER_H
#define YK_TOKENIZER_PRE_TOKENIZER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/regex.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_pre_tokenizer;

/* Reads a pre-tokenizer. If `node` is NULL or JSON null, a text is one word. */
yk_status yk_pre_tokenizer_from_json(const struct yk_json *node,
                                     struct yk_pre_tokenizer **out) YK_MUST_USE;
void yk_pre_tokenizer_destroy(struct yk_pre_tokenizer *pre_tokenizer);

/* Returns whether the pre-tokenizer belongs to a vocabulary in which characters represent the bytes
 * of words (tokenizer/byte_level.h). */
bool yk_pre_tokenizer_is_byte_level(const struct yk_pre_tokenizer *pre_tokenizer);

/* A plain struct, initialized with {0}. The caller creates `regex` and frees both members. */
struct yk_pre_tokenizer_workspace {
    struct yk_regex_workspace *regex;
    struct yk_text prefixed; /* buffer for a text with a space before it */
};

typedef yk_status (*yk_pre_tokenizer_callback)(void *argument, const char *word, size_t length);

/* Splits UTF-8 text and calls `callback` with each word, in order. No word is empty. */
yk_status yk_pre_tokenizer_split(const struct yk_pre_tokenizer *pre_tokenizer,
                                 struct yk_pre_tokenizer_workspace *workspace, const char *text,
                                 size_t length, yk_pre_tokenizer_callback callback,
                                 void *argument) YK_MUST_USE;

#endif
