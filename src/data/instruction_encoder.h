/*
 * Instruction encoder: converts one instruction, in any of the formats of data/instructions.h, to
 * tokens and marks the tokens that are part of the loss. One thread at a time may use it. The
 * tokenizer must outlive it.
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
#define YK_INSTRUCTION_FORMATS_TEXT                                                                \
    "\"prompt\" and \"completion\", \"messages\", \"conversations\", or \"instruction\" and "      \
    "\"output\""

/* Whether `bytes` are a JSON object with the members of a supported format. Does not check their
 * values. */
bool yk_instruction_encoder_recognizes(const char *bytes, size_t length);

struct yk_instruction_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_chat_template chat; /* opened when the first chat messages are read */
    struct yk_text text;          /* buffer for a prompt */
    int32_t begin_id;             /* token before a prompt; -1 means: none */
    int32_t end_id;               /* token after a completion; -1 means: none */
    int64_t fault; /* after a failure: the line of the JSON text that has the fault, from 0 */
};

yk_status yk_instruction_encoder_open(const struct yk_tokenizer *tokenizer,
                                      struct yk_instruction_encoder *out) YK_MUST_USE;
/* Accepts a struct that is {0}. */
void yk_instruction_encoder_close(struct yk_instruction_encoder *encoder);

/*
 * Adds the tokens of one instruction to `out`. A token that is part of the loss is added as ~id,
 * which is negative; the first token never is. Adds nothing if the instruction has no answer or an
 * empty one. Error messages do not contain the location of the instruction.
 */
yk_status yk_instruction_encoder_encode(struct yk_instruction_encoder *encoder, const char *bytes,
                                        size_t length, struct yk_token_ids *out) YK_MUST_USE;

#endif
