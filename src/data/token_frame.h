/*
 * Token frame: the tokens that stand before and behind those of a text, as the "post_processor" of
 * a tokenizer.json says: TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, which
 * puts none, and a Sequence of these. Another kind is refused by its name.
 *
 * A plain struct that starts as {0} and is freed by yk_token_frame_free(). Any number of threads
 * may look at one.
 */
#ifndef YK_DATA_TOKEN_FRAME_H
#define YK_DATA_TOKEN_FRAME_H

#include "base/json.h"
#include "base/status.h"
#include "data/ids.h"

#include <stdint.h>

struct yk_token_frame {
    struct yk_ids before;
    struct yk_ids behind;
};

/* Where the node is NULL or null, nothing is put around a text. Ids must be below `limit`. */
yk_status yk_token_frame_read(const struct yk_json *node, int32_t limit,
                              struct yk_token_frame *out) YK_MUST_USE;
void yk_token_frame_free(struct yk_token_frame *frame);

#endif
