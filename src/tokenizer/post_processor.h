/*
 * Post-processor: the tokens that are added before and after the tokens of a text. The
 * "post_processor" of a tokenizer.json defines them: TemplateProcessing, BertProcessing,
 * RobertaProcessing, ByteLevel (which adds no tokens), or a Sequence that has at most one of the
 * first three. Any other type is an error. A post-processor is a plain struct, initialized with
 * {0}. Any number of threads may read it.
 */
#ifndef YK_TOKENIZER_POST_PROCESSOR_H
#define YK_TOKENIZER_POST_PROCESSOR_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/token_ids.h"

#include <stdint.h>

struct yk_post_processor {
    struct yk_token_ids prefix;
    struct yk_token_ids suffix;
};

/* Reads a post-processor. If `node` is NULL or JSON null, the post-processor adds no tokens. Fails
 * if the id of a token is `limit` or larger. */
yk_status yk_post_processor_from_json(const struct yk_json *node, int32_t limit,
                                      struct yk_post_processor *out) YK_MUST_USE;
void yk_post_processor_free(struct yk_post_processor *processor);

#endif
