/*
 * Normalizer step: one change of a text, which a normalizer (tokenizer/normalizer.h) is made of.
 * Each kind of step is a table of functions. A step is immutable: any number of threads may share
 * it. The files of this folder define the kinds:
 *   characters    steps that change each character by itself
 *   forms         the four normal forms of Unicode
 *   edges         Strip and Prepend
 *   replace       Replace
 *   precompiled   Precompiled, with its map in precompiled_map
 */
#ifndef YK_TOKENIZER_NORMALIZERS_STEP_H
#define YK_TOKENIZER_NORMALIZERS_STEP_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/aligned_text.h"
#include "tokenizer/normalizers/precompiled_map.h"
#include "tokenizer/regex/regex.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_normalizer_step;

/* What a step needs beside the text. */
struct yk_normalizer_context {
    struct yk_regex_workspace *regex;
    struct yk_text *buffer; /* for patterns */
    size_t source_begin;    /* where the text that is normalized begins in the source */
    size_t max_bytes; /* of the text; Replace could make it so long that it fills the memory */
};

struct yk_normalizer_step_kind {
    const char *type; /* in a tokenizer.json; NULL: only part of another normalizer */
    /* Reads the options. NULL means: there are none. */
    yk_status (*read)(const struct yk_json *node, struct yk_normalizer_step *out);
    /* Appends the changed text to `to`, which is tracked exactly if `from` is. */
    yk_status (*apply)(const struct yk_normalizer_step *step,
                       const struct yk_normalizer_context *context,
                       const struct yk_aligned_segment *from, struct yk_aligned_text *to);
    bool changes_ascii; /* false: text of ASCII characters stays as it is */
};

struct yk_normalizer_step {
    const struct yk_normalizer_step_kind *kind;
    struct yk_regex *pattern;       /* of Replace */
    char *content;                  /* of Replace and Prepend */
    struct yk_precompiled_map *map; /* of Precompiled */
    bool left;                      /* of Strip */
    bool right;
};

extern const struct yk_normalizer_step_kind yk_normalizer_lowercase;
extern const struct yk_normalizer_step_kind yk_normalizer_strip_accents;
extern const struct yk_normalizer_step_kind yk_normalizer_strip_nonspacing;
extern const struct yk_normalizer_step_kind yk_normalizer_clean;
extern const struct yk_normalizer_step_kind yk_normalizer_space_ideographs;
extern const struct yk_normalizer_step_kind yk_normalizer_nmt;
extern const struct yk_normalizer_step_kind yk_normalizer_byte_level;
extern const struct yk_normalizer_step_kind yk_normalizer_nfc;
extern const struct yk_normalizer_step_kind yk_normalizer_nfd;
extern const struct yk_normalizer_step_kind yk_normalizer_nfkc;
extern const struct yk_normalizer_step_kind yk_normalizer_nfkd;
extern const struct yk_normalizer_step_kind yk_normalizer_strip;
extern const struct yk_normalizer_step_kind yk_normalizer_prepend;
extern const struct yk_normalizer_step_kind yk_normalizer_replace;
extern const struct yk_normalizer_step_kind yk_normalizer_precompiled;

#endif
