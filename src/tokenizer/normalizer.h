/*
 * Normalizer: what a tokenizer does to a text before it cuts it, as the "normalizer" of a
 * tokenizer.json says: BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents and a Sequence
 * of these. Another kind is refused by its name. It does not change once it is read: any number of
 * threads may share one.
 */
#ifndef YK_TOKENIZER_NORMALIZER_H
#define YK_TOKENIZER_NORMALIZER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>

struct yk_normalizer;

/* `source` begins messages. Where the node is NULL or null `*out` is NULL: nothing is done. */
yk_status yk_normalizer_read(const struct yk_json *node, const char *source,
                             struct yk_normalizer **out) YK_MUST_USE;
void yk_normalizer_destroy(struct yk_normalizer *normalizer);

/* Adds what UTF-8 text becomes to `out`; a normalizer that is NULL copies it. */
yk_status yk_normalizer_apply(const struct yk_normalizer *normalizer, const char *text,
                              size_t length, struct yk_text *out) YK_MUST_USE;

#endif
