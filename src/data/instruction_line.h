/*
 * Instruction line: the tokens of one instruction (data/instructions.h says its forms), and which
 * of them bear loss. One thread at a time. The tokenizer must outlive it.
 */
#ifndef YK_DATA_INSTRUCTION_LINE_H
#define YK_DATA_INSTRUCTION_LINE_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/chat.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an instruction has: for messages. */
#define YK_INSTRUCTION_FORMS                                                                       \
    "\"prompt\" and \"completion\", \"messages\", \"conversations\", or \"instruction\" and "      \
    "\"output\""

/* Whether these bytes are an object with the members of one of the forms, whatever they hold. */
bool yk_instruction_line_has_form(const char *bytes, size_t length);

struct yk_instruction_line {
    const struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_chat chat; /* without an encoder until the first messages come */
    struct yk_text text;
    int32_t begin_id; /* of a prompt; -1: none */
    int32_t end_id;   /* of a completion; -1: none */
    int64_t fault;    /* after a failure: on which of its lines it is, from 0 */
};

yk_status yk_instruction_line_open(const struct yk_tokenizer *tokenizer,
                                   struct yk_instruction_line *out) YK_MUST_USE;
/* Also of one that is {0}. */
void yk_instruction_line_close(struct yk_instruction_line *line);

/*
 * Adds the tokens of one, those that bear loss as their complement, ~id, below 0; the first
 * never does. Adds none where there is no answer to learn, or an empty one. Messages do not say
 * where it is.
 */
yk_status yk_instruction_line_add(struct yk_instruction_line *line, const char *bytes,
                                  size_t length, struct yk_token_ids *out) YK_MUST_USE;

#endif
