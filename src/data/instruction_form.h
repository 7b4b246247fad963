/*
 * Instruction form: reads one JSON object of instruction data (data/instructions.h lists the forms)
 * as a conversation, as a prompt and its completion, or as a text. The result shares the values of
 * the object. Any thread may call these functions.
 */
#ifndef YK_DATA_INSTRUCTION_FORM_H
#define YK_DATA_INSTRUCTION_FORM_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "tokenizer/chat/chat_conversation.h"

#include <stdbool.h>
#include <stdint.h>

/* The members of the supported forms, for error messages. */
#define YK_INSTRUCTION_FORM_KEYS_TEXT                                                              \
    "\"messages\", \"conversations\", \"prompt\" and \"completion\", \"instruction\" and "         \
    "\"output\", or \"text\""

enum yk_instruction_kind {
    YK_INSTRUCTION_CONVERSATION,
    YK_INSTRUCTION_COMPLETION,
    YK_INSTRUCTION_TEXT,
};

/* Starts as {0}. */
struct yk_instruction_form {
    enum yk_instruction_kind kind;
    struct yk_chat_conversation conversation;
    int64_t completion_index; /* conversation: index of the first message of the completion; −1
                                 means: the messages of the assistant are learned */
    struct yk_text prompt;
    const char *completion;
    const char *text;
};

void yk_instruction_form_free(struct yk_instruction_form *form);

/* Returns whether an object has the members of a supported form. Only checks that they exist, and
 * that "messages" and "conversations" are lists. */
bool yk_instruction_form_is_supported(const struct yk_json *root);

/* Reads an object. If `has_template`, Alpaca's form becomes a conversation, else a prompt in
 * Alpaca's words. Replaces what `out` contains. */
yk_status yk_instruction_form_read(const struct yk_json *root, bool has_template,
                                   struct yk_instruction_form *out) YK_MUST_USE;

#endif
