/*
 * Normalizer: changes a text before it is split into words. The "normalizer" of a tokenizer.json
 * defines how: NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, Nmt,
 * Precompiled, BertNormalizer, ByteLevel or a Sequence of these. A normalizer is immutable: any
 * number of threads may share it. Each thread needs its own workspace.
 */
#ifndef YK_TOKENIZER_NORMALIZER_H
#define YK_TOKENIZER_NORMALIZER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/aligned_text.h"
#include "tokenizer/regex/regex.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_normalizer;

/* Reads a normalizer. If `node` is NULL or JSON null, `*out` is NULL: texts are not changed. */
yk_status yk_normalizer_from_json(const struct yk_json *node,
                                  struct yk_normalizer **out) YK_MUST_USE;
void yk_normalizer_destroy(struct yk_normalizer *normalizer);

/* A plain struct, initialized with {.regex}; the caller owns the regex workspace. */
struct yk_normalizer_workspace {
    struct yk_regex_workspace *regex;
    struct yk_aligned_text texts[2]; /* each step reads one and writes the other */
    struct yk_text buffer;           /* for patterns */
};

void yk_normalizer_workspace_free(struct yk_normalizer_workspace *workspace);

/*
 * Normalizes UTF-8 text, which begins at byte `begin` of the source. `*out` is the result; it is
 * valid until the workspace or the text changes. If `tracked`, it has origins. Otherwise
 * `start_bytes` of the result is 0.
 */
yk_status yk_normalizer_run(const struct yk_normalizer *normalizer,
                            struct yk_normalizer_workspace *workspace, const char *text,
                            size_t length, size_t begin, bool tracked,
                            struct yk_aligned_segment *out) YK_MUST_USE;

/* Appends the normalized form of UTF-8 text to `out`. If the normalizer is NULL, copies the text.
 */
yk_status yk_normalizer_apply(const struct yk_normalizer *normalizer, const char *text,
                              size_t length, struct yk_text *out) YK_MUST_USE;

#endif
