/*
 * Chat template: encodes the messages of a conversation as Llama 3 was trained (Dubey et al.,
 * 2024):
 *
 *   <|begin_of_text|><|start_header_id|>system<|end_header_id|>
 *
 *   You are helpful.<|eot_id|><|start_header_id|>user<|end_header_id|>
 *
 *   Hello<|eot_id|>…
 *
 * The tokens equal those of Llama 3's own template in Hugging Face's apply_chat_template(): white
 * space around a message is removed, and special tokens inside a message are recognized. (The
 * template of Llama 3.1 also adds dates to the first message; this one does not.)
 *
 * A template uses an encoder, therefore one thread at a time may use it. The tokenizer and the
 * encoder must outlive it.
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

/* Finds a role by its name in files. Returns false if there is none. */
bool yk_chat_template_find_role(const char *name, enum yk_chat_role *out);

struct yk_chat_template {
    struct yk_tokenizer_encoder *encoder;
    struct yk_token_ids
        headers[YK_CHAT_ROLE_COUNT]; /* the tokens before the content of a message */
    struct yk_text text;             /* buffer for a message */
    int32_t begin_id;
};

/* Fails if the tokenizer lacks one of the special tokens. The message names the token. */
yk_status yk_chat_template_open(const struct yk_tokenizer *tokenizer,
                                struct yk_tokenizer_encoder *encoder,
                                struct yk_chat_template *out) YK_MUST_USE;
/* Accepts a struct that is {0}. */
void yk_chat_template_close(struct yk_chat_template *chat);

/* Appends the token that begins a conversation. */
void yk_chat_template_add_begin(const struct yk_chat_template *chat, struct yk_token_ids *out);

/* Appends the tokens before the content of a message, so that a model can generate the content. */
void yk_chat_template_add_header(const struct yk_chat_template *chat, enum yk_chat_role role,
                                 struct yk_token_ids *out);

/* Appends a message. `*first` is the index in `out` of the first token of the content, or of the
 * end token if the content is empty. `source` is the prefix of error messages. */
yk_status yk_chat_template_add_message(struct yk_chat_template *chat, enum yk_chat_role role,
                                       const char *content, const char *source,
                                       struct yk_token_ids *out, int64_t *first) YK_MUST_USE;

/* A text without the white space around it, as Python's strip() defines it. The result may be
 * empty. */
const char *yk_chat_template_trim(const char *text, size_t *length);

#endif
