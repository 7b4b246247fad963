/*
 * Post-processor: the tokens that are added before and after the tokens of a text, and which spans
 * leave out the white space around a token. The "post_processor" of a tokenizer.json defines them:
 * TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which adds no tokens), or a
 * Sequence that has at most one of the first three. A post-processor is a plain struct, initialized
 * with {0}. Any number of threads may read it.
 *
 * The template for a pair of texts is not used: who trains on pairs joins them itself.
 */
#ifndef YK_TOKENIZER_POST_PROCESSOR_H
#define YK_TOKENIZER_POST_PROCESSOR_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_spans.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_POST_PROCESSOR_MAX_TRIMS = 8
};

struct yk_post_processor {
    struct yk_token_ids prefix;
    struct yk_token_ids suffix;
    /* For each time that spans are trimmed: the first space of a text was added, and stays. */
    bool keeps_first_space[YK_POST_PROCESSOR_MAX_TRIMS];
    int32_t trim_count;
};

/* Reads a post-processor. If `node` is NULL or JSON null, the post-processor adds no tokens. Fails
 * if the id of a token is `limit` or larger. */
yk_status yk_post_processor_from_json(const struct yk_json *node, int32_t limit,
                                      struct yk_post_processor *out) YK_MUST_USE;
void yk_post_processor_free(struct yk_post_processor *processor);

/* Trims the span of a token whose name is `token`. `index` is its index among the tokens of `text`.
 */
void yk_post_processor_trim_span(const struct yk_post_processor *processor, const char *token,
                                 size_t token_length, int64_t index, const char *text,
                                 struct yk_token_span *span);

#endif
