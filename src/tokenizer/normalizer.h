/*
 * Normalizer: changes a text before it is split into words. The "normalizer" of a tokenizer.json
 * defines how: BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents or a Sequence of
 * these. Any other type is an error. A normalizer is immutable: any number of threads may share it.
 */
#ifndef YK_TOKENIZER_NORMALIZER_H
#define YK_TOKENIZER_NORMALIZER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

struct yk_normalizer;

/* Reads a normalizer. If `node` is NULL or JSON null, `*out` is NULL: texts are not changed. */
yk_status yk_normalizer_from_json(const struct yk_json *node,
                                  struct yk_normalizer **out) YK_MUST_USE;
void yk_normalizer_destroy(struct yk_normalizer *normalizer);

/* Appends the normalized form of UTF-8 text to `out`. If the normalizer is NULL, copies the text.
 */
yk_status yk_normalizer_apply(const struct yk_normalizer *normalizer, const char *text,
                              size_t length, struct yk_text *out) YK_MUST_USE;

#endif
