/*
 * Pre-tokenizer: how a text is cut into words before a model makes tokens of them, as the
 * "pre_tokenizer" of a tokenizer.json says: ByteLevel, Split, BertPreTokenizer and a Sequence of
 * these, each cutting what the one before it left. Another kind is refused by its name.
 *
 * A pre-tokenizer does not change once it is read: any number of threads may share one. Each
 * thread needs a workspace of its own.
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

/* Where the node is NULL or null, a text is one word. */
yk_status yk_pre_tokenizer_read(const struct yk_json *node,
                                struct yk_pre_tokenizer **out) YK_MUST_USE;
void yk_pre_tokenizer_destroy(struct yk_pre_tokenizer *pre_tokenizer);

/* Whether the model is to see bytes, written by letters (tokenizer/byte_level.h). */
bool yk_pre_tokenizer_is_byte_level(const struct yk_pre_tokenizer *pre_tokenizer);

/* A plain struct that starts as {0}; the caller creates `regex`, and frees both. */
struct yk_pre_tokenizer_workspace {
    struct yk_regex_workspace *regex;
    struct yk_text prefixed; /* a text with a space put before it */
};

typedef yk_status (*yk_pre_tokenizer_callback)(void *argument, const char *word, size_t length);

/* Calls back with the words of UTF-8 text, in their order; none of them is empty. */
yk_status yk_pre_tokenizer_run(const struct yk_pre_tokenizer *pre_tokenizer,
                               struct yk_pre_tokenizer_workspace *workspace, const char *text,
                               size_t length, yk_pre_tokenizer_callback callback,
                               void *argument) YK_MUST_USE;

#endif
