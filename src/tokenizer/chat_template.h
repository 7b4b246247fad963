/*
 * Chat template: encodes the messages of a conversation in the format on which Llama 3 was trained
 * (Dubey et al., 2024):
 *
 *   <|begin_of_text|><|start_header_id|>system<|end_header_id|>
 *
 *   You are helpful.<|eot_id|><|start_header_id|>user<|end_header_id|>
 *
 *   Hello<|eot_id|>…
 *
 * The tokens equal those of Llama 3's own template in Hugging Face's apply_chat_template(): white
 * space around a message is removed, and special tokens inside a message are recognized. (The
 * template of Llama 3.1 also adds dates to the first message; this template does not.)
 *
 * A template uses an encoder, so only one thread at a time may use the template. The tokenizer and
 * the encoder must outlive the template.
 */
#ifndef YK_TOKENIZER_CHAT_TEMPLATE_H
#define YK_TOKENIZER_CHAT_TEMPLATE_H

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
    YK_CHAT_ROLE_COUNT
};

/* Finds a role by the name that it has in data files ("system", "user", "assistant"). Returns false
 * if no role has this name. */
bool yk_chat_template_find_role(const char *name, enum yk_chat_role *out);

struct yk_chat_template {
    struct yk_tokenizer_encoder *encoder;
    struct yk_token_ids
        headers[YK_CHAT_ROLE_COUNT]; /* by role: the tokens before the content of a message */
    struct yk_text text;             /* buffer for a message */
    int32_t begin_id;                /* token that begins a conversation */
};

/* Opens a template. Fails if the tokenizer lacks a special token of the format. The error message
 * contains the name of the token. */
yk_status yk_chat_template_open(const struct yk_tokenizer *tokenizer,
                                struct yk_tokenizer_encoder *encoder,
                                struct yk_chat_template *out) YK_MUST_USE;
/* Accepts a struct that is {0}. */
void yk_chat_template_close(struct yk_chat_template *chat);

/* Appends the token that begins a conversation. */
void yk_chat_template_append_begin_token(const struct yk_chat_template *chat,
                                         struct yk_token_ids *out);

/* Appends only the tokens before a message's content. A model can then generate the content. */
void yk_chat_template_append_header_tokens(const struct yk_chat_template *chat,
                                           enum yk_chat_role role, struct yk_token_ids *out);

/* Appends a message. Sets `*first` to the index in `out` of the first token of the content, or of
 * the end token if the content is empty. `source` is the prefix of error messages. */
yk_status yk_chat_template_encode_message(struct yk_chat_template *chat, enum yk_chat_role role,
                                          const char *content, const char *source,
                                          struct yk_token_ids *out, int64_t *first) YK_MUST_USE;

/* Finds the part of `text` without the white space at both ends; white space is what Python's
 * strip() removes. Returns a pointer to the beginning of this part, and sets `*length` to its
 * number of bytes, which may be 0. */
const char *yk_chat_template_trim_white_space(const char *text, size_t *length);

#endif
