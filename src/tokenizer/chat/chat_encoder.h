/*
 * Chat encoder: writes a conversation by a chat template, converts it to tokens, and marks those
 * that the assistant says. The tokens are what transformers' tokenizer makes of the rendered text
 * with add_special_tokens=False. Only one thread at a time may use an encoder. The template and the
 * tokenizer must outlive it.
 */
#ifndef YK_TOKENIZER_CHAT_CHAT_ENCODER_H
#define YK_TOKENIZER_CHAT_CHAT_ENCODER_H

#include "base/status.h"
#include "tokenizer/chat/chat_mask.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/tokenizer_encoder.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts as {0}, or with the first two members. */
struct yk_chat_encoder {
    const struct yk_chat_template *chat;
    struct yk_tokenizer_encoder *tokenizer; /* not owned */

    /* The result for the last conversation. */
    struct yk_jinja_output rendered;
    struct yk_token_ids ids;
    bool *answers; /* (ids) whether the assistant says the token */

    struct yk_chat_answers parts;
    struct yk_token_spans spans;
    int64_t answer_capacity;
};

/* Frees the results. */
void yk_chat_encoder_free(struct yk_chat_encoder *encoder);

struct yk_chat_encoder_request {
    const struct yk_chat_conversation *conversation;
    bool prompt;        /* with the beginning of an answer, which a model then continues */
    bool text_only;     /* make no tokens */
    bool mask;          /* mark tokens; false means: `answers` is not valid afterwards */
    int64_t completion; /* see struct yk_chat_mask_request */
};

/* Encodes a conversation, which has at least one message. */
yk_status yk_chat_encoder_encode(struct yk_chat_encoder *encoder,
                                 const struct yk_chat_encoder_request *request) YK_MUST_USE;

#endif
