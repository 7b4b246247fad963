/*
 * Post-processor: the tokens before and behind those of a text, as the "post_processor" of a
 * tokenizer.json says: TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, which adds
 * none, and a Sequence of these. Another kind is refused by its name. A plain struct that starts as
 * {0}; any number of threads may read one.
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

/* Where the node is NULL or null, nothing is put around a text. Ids must be below `limit`. */
yk_status yk_post_processor_read(const struct yk_json *node, int32_t limit,
                                 struct yk_post_processor *out) YK_MUST_USE;
void yk_post_processor_free(struct yk_post_processor *processor);

#endif
