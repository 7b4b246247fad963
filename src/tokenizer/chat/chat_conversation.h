/*
 * Chat conversation: the messages of a chat and the other variables of its template, as JSON values
 * that it shares with the documents that they come from. A conversation starts as {0}; its owner
 * frees it. Only one thread at a time may use a conversation.
 */
#ifndef YK_TOKENIZER_CHAT_CHAT_CONVERSATION_H
#define YK_TOKENIZER_CHAT_CHAT_CONVERSATION_H

#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL means: none. */
struct yk_chat_conversation {
    struct yk_json *messages;  /* a list of objects */
    struct yk_json *tools;     /* a list of functions that the model may call */
    struct yk_json *documents; /* a list of objects */
    struct yk_json *variables; /* an object: more variables, such as {"enable_thinking": false} */
};

void yk_chat_conversation_free(struct yk_chat_conversation *conversation);

/* Sets one of the last three members. Does nothing if `value` is NULL or null. */
yk_status yk_chat_conversation_set(struct yk_json **member,
                                   const struct yk_json *value) YK_MUST_USE;

/*
 * Appends a message as transformers passes it to a template: without members that are null, and
 * with what a model thought before it answered as "reasoning_content" and as "thinking", whether
 * the message has "reasoning_content", "thinking" or "reasoning". Other members are passed on.
 *
 * Fails unless the message is an object whose "role" is a string and whose "content" is a string or
 * a list. A message may lack "content" if it has another member beside its role.
 */
yk_status yk_chat_conversation_append(struct yk_chat_conversation *conversation,
                                      const struct yk_json *message) YK_MUST_USE;

/* Appends a message with a role and a text. */
yk_status yk_chat_conversation_append_text(struct yk_chat_conversation *conversation,
                                           const char *role, const char *content) YK_MUST_USE;

int64_t yk_chat_conversation_count(const struct yk_chat_conversation *conversation);

/* Returns whether message `index` is one of the assistant. */
bool yk_chat_conversation_is_answer(const struct yk_chat_conversation *conversation, int64_t index);

/* Returns whether a message of the assistant says nothing: its content is missing or only white
 * space, and it neither calls a tool nor thinks. */
bool yk_chat_conversation_is_empty_answer(const struct yk_chat_conversation *conversation,
                                          int64_t index);

/* Finds the part of `text` without the white space at both ends; white space is what Python's
 * strip() removes. Returns a pointer to the beginning of this part, and sets `*out_length` to its
 * number of bytes, which may be 0. */
const char *yk_chat_conversation_trim_white_space(const char *text, size_t length,
                                                  size_t *out_length);

#endif
