/*
 * Pre-tokenizer stage: one way to split a segment of text into smaller segments, which a
 * pre-tokenizer (tokenizer/pre_tokenizer.h) is made of. Each kind of stage is a table of functions.
 * A stage is immutable: any number of threads may share it. The files of this folder define the
 * kinds: patterns     Split, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit
 *   words        BertPreTokenizer, UnicodeScripts, FixedLength
 *   byte_level   ByteLevel
 *   metaspace    Metaspace
 */
#ifndef YK_TOKENIZER_PRE_TOKENIZERS_STAGE_H
#define YK_TOKENIZER_PRE_TOKENIZERS_STAGE_H

#include "base/json.h"
#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/aligned_text.h"
#include "tokenizer/regex/regex.h"
#include "tokenizer/regex/text_pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_PRE_TOKENIZER_BUFFERS = 3 /* of each stage; the last one is for patterns */
};

/* What becomes of the matches of a pattern. */
enum yk_split_behaviour {
    YK_SPLIT_REMOVED,
    YK_SPLIT_ISOLATED,
    YK_SPLIT_MERGED_WITH_PREVIOUS,
    YK_SPLIT_MERGED_WITH_NEXT,
    YK_SPLIT_CONTIGUOUS /* neighbouring matches are one segment */
};

enum yk_prepend_scheme {
    YK_PREPEND_ALWAYS,
    YK_PREPEND_FIRST, /* only at the start of the text */
    YK_PREPEND_NEVER
};

struct yk_pre_tokenizer_stage;

/* The state of one call: what a stage needs beside its options. */
struct yk_pre_tokenizer_context {
    struct yk_regex_workspace *regex;
    struct yk_aligned_text *buffers; /* (YK_PRE_TOKENIZER_BUFFERS), of this stage alone */
    bool tracked;
    /* Takes a segment, which is not empty. */
    yk_status (*emit)(const struct yk_pre_tokenizer_context *context,
                      const struct yk_aligned_segment *segment);
    const void *argument; /* of `emit` */
    int32_t index;        /* of the stage */
};

struct yk_pre_tokenizer_stage_kind {
    const char *type; /* in a tokenizer.json */
    /* Reads the options. NULL means: there are none. */
    yk_status (*read)(const struct yk_json *node, struct yk_pre_tokenizer_stage *out);
    /* Emits the segments of a segment, which is not empty. */
    yk_status (*run)(const struct yk_pre_tokenizer_stage *stage,
                     const struct yk_pre_tokenizer_context *context,
                     const struct yk_aligned_segment *segment);
};

struct yk_pre_tokenizer_stage {
    const struct yk_pre_tokenizer_stage_kind *kind;
    struct yk_regex *regex; /* owned */
    struct yk_text_pattern pattern;
    enum yk_split_behaviour behaviour;
    bool invert; /* what is between two matches counts as match */

    bool prefix_space; /* of ByteLevel */
    bool keep_bytes;   /* of ByteLevel: the segments stay bytes */

    char replacement[YK_UTF8_MAX_BYTES]; /* of Metaspace */
    size_t replacement_length;
    enum yk_prepend_scheme scheme;
    bool split;

    int64_t length; /* of FixedLength, in characters */
};

extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_split_stage;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_whitespace;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_whitespace_split;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_punctuation;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_digits;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_delimiter;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_bert;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_unicode_scripts;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_fixed_length;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_byte_level;
extern const struct yk_pre_tokenizer_stage_kind yk_pre_tokenizer_metaspace;

/* Emits a part of a segment, unless it is empty. */
static inline yk_status yk_pre_tokenizer_emit(const struct yk_pre_tokenizer_context *context,
                                              const struct yk_aligned_segment *segment,
                                              size_t begin, size_t end)
{
    if (begin == end) {
        return YK_OK;
    }
    const struct yk_aligned_segment part = yk_aligned_text_slice_segment(segment, begin, end);
    return context->emit(context, &part);
}

/* Splits a segment at the matches of a stage's pattern. */
yk_status yk_pre_tokenizer_run_pattern(const struct yk_pre_tokenizer_stage *stage,
                                       const struct yk_pre_tokenizer_context *context,
                                       const struct yk_aligned_segment *segment) YK_MUST_USE;

#endif
