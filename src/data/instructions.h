/*
 * Instructions: prompts and completions, as tokens, from a file of one JSON object a line, or of
 * one list of objects; or from a folder of such files (data/instruction_files.h), which gives the
 * same as one file of all their lines. Other members are ignored, blank lines are left out, as is a
 * byte order mark. Each object is of one of four forms:
 *
 *   {"prompt": "…", "completion": "…"}
 *       Both encoded by themselves, with the tokenizer's begin token in front, where it has one,
 * and its end token behind. Loss is on the completion and the end.
 *   {"messages": [{"role": "system" | "user" | "assistant", "content": "…"}, …]}
 *       A chat of Llama 3's form (tokenizer/chat.h). Loss is on the content of each of the
 *       assistant's messages and the <|eot_id|> behind it.
 *   {"conversations": [{"from": "system" | "human" | "gpt", "value": "…"}, …]}
 *       The same as ShareGPT writes it.
 *   {"instruction": "…", "input": "…", "output": "…"}
 *       Alpaca's (Taori et al., 2023), with its own text around; "input" may be empty, null or
 *       missing. A prompt and a completion from there on.
 *
 * The first token bears no loss. Faulty are lines (or elements of a list) with an empty completion
 * or no message of the assistant, and lines longer than allowed: the first is refused by its line,
 * or all are left out and counted. Long ones may be truncated instead, unless no token that bears
 * loss would be left. Broken JSON, members that are missing or of another type, unknown roles, text
 * that is not UTF-8 or cannot be encoded are always refused.
 *
 * All tokens are in memory, five bytes each. Instructions do not change once they are read: any
 * number of threads may use them. They keep nothing of the request.
 */
#ifndef YK_DATA_INSTRUCTIONS_H
#define YK_DATA_INSTRUCTIONS_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_instructions;

struct yk_instructions_request {
    const char *path;
    const struct yk_tokenizer *tokenizer;
    int64_t longest; /* tokens of one, of all its parts */
    bool skip_faulty;
    bool cut_long;
    double from;  /* which lines: those from this part of them on, */
    double until; /* up to this part of them; 0: to the end. There may be none from a part on. */
};

struct yk_instruction {
    const int32_t *tokens; /* (count) */
    const bool *bears;     /* (count) whether the token bears loss */
    int64_t count;
    int64_t line; /* of the file, or the element of its list, from 1 */
};

/* Of all instructions together. */
struct yk_instructions_totals {
    int64_t instructions;
    int64_t skipped;
    int64_t cut;
    int64_t tokens;
    int64_t bearing; /* of them, those that bear loss */
    int64_t longest; /* of one */
};

yk_status yk_instructions_open(const struct yk_instructions_request *request,
                               struct yk_instructions **out) YK_MUST_USE;

/* Of bytes instead of a file; messages call them by the request's path. */
yk_status yk_instructions_read(const char *bytes, size_t length,
                               const struct yk_instructions_request *request,
                               struct yk_instructions **out) YK_MUST_USE;
void yk_instructions_close(struct yk_instructions *instructions);

int64_t yk_instructions_count(const struct yk_instructions *instructions);
struct yk_instructions_totals yk_instructions_totals(const struct yk_instructions *instructions);

/* 0 <= index < count, in the order of the lines. The tokens belong to the instructions. */
struct yk_instruction yk_instructions_at(const struct yk_instructions *instructions, int64_t index);

/* What samples are padded with: the tokenizer's padding, or 0 where it has none. */
int32_t yk_instructions_padding_id(const struct yk_instructions *instructions);

/* "52002 instructions, 5012345 tokens, 2912345 with loss, 0 left out, 0 cut off". */
void yk_instructions_describe(const struct yk_instructions *instructions, struct yk_text *out);

#endif
