/*
 * Pre-tokenizer: splits a text into words, which the model then converts to tokens. The
 * "pre_tokenizer" of a tokenizer.json defines how: ByteLevel, Split, Digits, Metaspace,
 * Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, UnicodeScripts, BertPreTokenizer,
 * FixedLength or a Sequence of these. In a Sequence, each element splits the words that the
 * previous element found.
 *
 * A pre-tokenizer is immutable: any number of threads may share it. Each thread needs its own
 * workspace.
 */
#ifndef YK_TOKENIZER_PRE_TOKENIZER_H
#define YK_TOKENIZER_PRE_TOKENIZER_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/aligned_text.h"
#include "tokenizer/regex/regex.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_pre_tokenizer;

enum yk_byte_level_words {
    YK_BYTE_LEVEL_WORDS_AS_CHARACTERS, /* that represent bytes, see tokenizer/byte_level.h */
    YK_BYTE_LEVEL_WORDS_AS_BYTES       /* if ByteLevel is the last element: the bytes themselves */
};

/* Reads a pre-tokenizer. If `node` is NULL or JSON null, a text is one word. */
yk_status yk_pre_tokenizer_from_json(const struct yk_json *node, enum yk_byte_level_words words,
                                     struct yk_pre_tokenizer **out) YK_MUST_USE;
void yk_pre_tokenizer_destroy(struct yk_pre_tokenizer *pre_tokenizer);

/* Returns whether the words are bytes for a vocabulary in which characters represent bytes. */
bool yk_pre_tokenizer_makes_bytes(const struct yk_pre_tokenizer *pre_tokenizer);

/* Returns whether ByteLevel is the last element. */
bool yk_pre_tokenizer_is_byte_level(const struct yk_pre_tokenizer *pre_tokenizer);

/* Returns whether the words depend on `start_bytes` of a segment that is not tracked. */
bool yk_pre_tokenizer_depends_on_start(const struct yk_pre_tokenizer *pre_tokenizer);

/* A plain struct, initialized with {0}. The caller creates and destroys `regex`. */
struct yk_pre_tokenizer_workspace {
    struct yk_regex_workspace *regex;
    struct yk_aligned_text *buffers; /* of the stages; NULL at first */
};

/* Frees all but `regex`. */
void yk_pre_tokenizer_workspace_free(struct yk_pre_tokenizer_workspace *workspace);

typedef yk_status (*yk_pre_tokenizer_callback)(void *argument,
                                               const struct yk_aligned_segment *word);

/* Splits UTF-8 text and calls `callback` with each word, in order. No word is empty. Words have
 * origins if the segment has. */
yk_status yk_pre_tokenizer_split(const struct yk_pre_tokenizer *pre_tokenizer,
                                 struct yk_pre_tokenizer_workspace *workspace,
                                 const struct yk_aligned_segment *segment,
                                 yk_pre_tokenizer_callback callback, void *argument) YK_MUST_USE;

/* The same in two steps: into parts, and each part into words, which depend on the bytes of the
 * part alone. Parts are what the first stage that makes words emits, if the stages behind it take
 * time; otherwise they are the words. */
yk_status yk_pre_tokenizer_split_into_parts(const struct yk_pre_tokenizer *pre_tokenizer,
                                            struct yk_pre_tokenizer_workspace *workspace,
                                            const struct yk_aligned_segment *segment,
                                            yk_pre_tokenizer_callback callback,
                                            void *argument) YK_MUST_USE;
yk_status yk_pre_tokenizer_split_part(const struct yk_pre_tokenizer *pre_tokenizer,
                                      struct yk_pre_tokenizer_workspace *workspace,
                                      const struct yk_aligned_segment *part,
                                      yk_pre_tokenizer_callback callback,
                                      void *argument) YK_MUST_USE;

/* Returns whether parts may be other than words. */
bool yk_pre_tokenizer_has_parts(const struct yk_pre_tokenizer *pre_tokenizer);

#endif
