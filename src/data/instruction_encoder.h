/*
 * Instruction encoder: converts one instruction, in any of the forms of data/instructions.h, to
 * tokens and marks the tokens that are part of the loss. Only one thread at a time may use an
 * encoder. The tokenizer must outlive the encoder.
 */
#ifndef YK_DATA_INSTRUCTION_ENCODER_H
#define YK_DATA_INSTRUCTION_ENCODER_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "data/instruction_form.h"
#include "data/json_records.h"
#include "tokenizer/chat/chat_encoder.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/tokenizer_encoder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether `bytes` are a JSON object with the members of a supported form. */
bool yk_instruction_encoder_supports_object(const char *bytes, size_t length);

struct yk_instruction_encoder_options {
    struct yk_chat_template_options chat;
    const struct yk_json *tools; /* a list for conversations that have none; NULL means: none */
    bool text_only;              /* conversations become text, but no tokens */
    bool no_mask;                /* no token of a conversation is marked */
    bool prompt;                 /* with the beginning of another answer after a conversation */
};

struct yk_instruction_encoder {
    const struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_instruction_encoder_options options;
    struct yk_chat_template *chat; /* NULL until the first chat is encoded */
    struct yk_chat_encoder chat_encoder;
    struct yk_instruction_form form; /* of the last instruction */
    bool has_template;               /* the tokenizer has a chat template of its own */
    int32_t begin_id;                /* token before a prompt; -1 means: none */
    int32_t end_id; /* token after a completion; -1 means: none, and prompts with a completion
                       cannot be encoded */

    /* The result for the last instruction. */
    struct yk_text text;     /* all of it, without the tokens around a prompt and its completion */
    struct yk_token_ids ids; /* a token that is part of the loss is stored as ~id */
    bool is_faulty; /* the instruction cannot be learned, but others of its file may be: it lacks an
                       answer, or the chat template refuses it */
    bool is_unmarked;   /* it is faulty because the chat template marks none of its answers */
    int64_t fault;      /* after a failure: number of the faulty line of the JSON text, from 0 */
    bool is_unfinished; /* after a failure: the JSON text ends within an object */
};

/* What `options` refers to must outlive the encoder. `options` may be NULL. */
yk_status yk_instruction_encoder_open(const struct yk_tokenizer *tokenizer,
                                      const struct yk_instruction_encoder_options *options,
                                      struct yk_instruction_encoder *out) YK_MUST_USE;
/* Accepts a struct that is {0}. */
void yk_instruction_encoder_close(struct yk_instruction_encoder *encoder);

/*
 * Encodes one instruction. If it has no answer that can be learned, sets `is_faulty`, and no token
 * is part of the loss. If the chat template fails, sets `is_faulty`, too. Error messages do not
 * contain the location of the instruction.
 */
yk_status yk_instruction_encoder_encode(struct yk_instruction_encoder *encoder, const char *bytes,
                                        size_t length) YK_MUST_USE;

/* Returns `status`, the failure for record `index` of a file. Inserts the location of the fault
 * before the error message. If the record is a line within which its object does not end, appends
 * that a line must be one object. */
yk_status yk_instruction_encoder_locate_failure(const struct yk_instruction_encoder *encoder,
                                                const struct yk_json_records *records,
                                                int64_t index, const char *path,
                                                yk_status status) YK_MUST_USE;

#endif
