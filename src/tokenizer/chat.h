/*
 * Chat: messages of a conversation as tokens, as Llama 3 was taught (Dubey et al., 2024):
 *
 *   <|begin_of_text|><|start_header_id|>system<|end_header_id|>
 *
 *   You are helpful.<|eot_id|><|start_header_id|>user<|end_header_id|>
 *
 *   Hello<|eot_id|>…
 *
 * The tokens are those of Llama 3's own template in Hugging Face's apply_chat_template(): white
 * space around a message is taken off, and special tokens that stand in a message are found there.
 * (The template of Llama 3.1 also writes dates into the first message; this one does not.)
 *
 * A chat uses an encoder: one thread at a time. It owns nothing of others; tokenizer and encoder
 * must outlive it.
 */
#ifndef YK_TOKENIZER_CHAT_H
#define YK_TOKENIZER_CHAT_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_chat_role {
    YK_CHAT_SYSTEM,
    YK_CHAT_USER,
    YK_CHAT_ASSISTANT,
    YK_CHAT_ROLES
};

/* Names as files write them; false for others. */
bool yk_chat_role_find(const char *name, enum yk_chat_role *out);

struct yk_chat {
    struct yk_tokenizer_encoder *encoder;
    struct yk_token_ids headers[YK_CHAT_ROLES]; /* tokens up to where the content begins */
    struct yk_text text;                        /* a message while it is encoded */
    int32_t begin_id;
};

/* Refuses a tokenizer that lacks one of the special tokens, by its name. */
yk_status yk_chat_open(const struct yk_tokenizer *tokenizer, struct yk_tokenizer_encoder *encoder,
                       struct yk_chat *out) YK_MUST_USE;
/* Also of one that is {0}. */
void yk_chat_close(struct yk_chat *chat);

/* Adds the token that begins a conversation. */
void yk_chat_add_begin(const struct yk_chat *chat, struct yk_token_ids *out);

/* Adds the tokens before an answer, for whoever has it written. */
void yk_chat_add_header(const struct yk_chat *chat, enum yk_chat_role role,
                        struct yk_token_ids *out);

/* Adds a message; `*first` is the place in `out` of the content's first token, or, without content,
 * of the end of the message. `source` begins messages about what cannot be encoded. */
yk_status yk_chat_add_message(struct yk_chat *chat, enum yk_chat_role role, const char *content,
                              const char *source, struct yk_token_ids *out,
                              int64_t *first) YK_MUST_USE;

/* The part of a text without white space around it, as Python's strip() has it; may be empty. */
const char *yk_chat_trim(const char *text, size_t *length);

#endif
