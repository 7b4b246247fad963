/*
 * Chat prompt: the tokens of a chat up to where the answer of the model begins. Not thread-safe.
 */
#ifndef YK_JOB_MODELS_CHAT_PROMPT_H
#define YK_JOB_MODELS_CHAT_PROMPT_H

#include "base/status.h"
#include "job/chat_options.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>

struct yk_chat_prompt_request {
    struct yk_chat_options options;
    const char *messages; /* path of a JSON file with the messages so far: an object with "messages"
                             (data/instructions.h), or a list of messages; NULL means: none */
    const char *system;   /* what the system says before them; NULL means: nothing */
    const char *prompt;   /* what the user says after them; NULL means: nothing */
};

/* Appends the tokens of the chat to `out`. Sets `*end` to the id of the token that ends an answer,
 * eos_token of the chat files, or to −1 if there is none. Sets the template of the tokenizer, if
 * one is given. */
yk_status yk_chat_prompt_encode(const struct yk_chat_prompt_request *request,
                                struct yk_tokenizer *tokenizer, struct yk_token_ids *out,
                                int32_t *end) YK_MUST_USE;

#endif
