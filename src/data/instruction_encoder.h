/*
 * Instruction encoder: converts one instruction, in any of the formats of data/instructions.h, to
 * tokens and marks the tokens that are part of the loss. Only one thread at a time may use an
 * encoder. The tokenizer must outlive the encoder.
 */
#ifndef YK_DATA_INSTRUCTION_ENCODER_H
#define YK_DATA_INSTRUCTION_ENCODER_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/chat_template.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members of the supported formats, for error messages. */
#define YK_INSTRUCTION_SUPPORTED_KEYS_TEXT                                                         \
    "\"prompt\" and \"completion\", \"messages\", \"conversations\", or \"instruction\" and "      \
    "\"output\""

/* Returns whether `bytes` are a JSON object with the members of a supported format. Only checks
 * that the members exist, and that "messages" or "conversations" is a list. */
bool yk_instruction_encoder_supports_object(const char *bytes, size_t length);

struct yk_instruction_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_chat_template chat; /* {0} until the first chat is encoded */
    struct yk_text text;          /* buffer for a prompt */
    int32_t begin_id;             /* token before a prompt; -1 means: none */
    int32_t end_id;               /* token after a completion; -1 means: none, and prompts with a
                                     completion cannot be encoded */
    int64_t fault; /* after a failure: number of the faulty line of the JSON text, from 0 */
};

yk_status yk_instruction_encoder_open(const struct yk_tokenizer *tokenizer,
                                      struct yk_instruction_encoder *out) YK_MUST_USE;
/* Accepts a struct that is {0}. */
void yk_instruction_encoder_close(struct yk_instruction_encoder *encoder);

/*
 * Appends the tokens of one instruction to `out`. A token that is part of the loss is stored as
 * ~id, which is negative. The first token is never part of the loss. Appends nothing if the
 * completion is empty, if a chat has no message of the assistant, or if one of the assistant's
 * messages is empty or only white space. Error messages do not contain the location of the
 * instruction.
 */
yk_status yk_instruction_encoder_encode(struct yk_instruction_encoder *encoder, const char *bytes,
                                        size_t length, struct yk_token_ids *out) YK_MUST_USE;

#endif
