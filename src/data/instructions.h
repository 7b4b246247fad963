/*
 * Instructions: what is asked and what is to be answered, as tokens, from a file of one JSON object
 * a line, or of one list of objects; or from a folder of such files (data/instruction_files.h),
 * which gives the same as one file of all their lines. Each object is of one of four forms; other
 * members are not looked at, and blank lines are left out, as is a byte order mark at the very
 * beginning of a file. A list gives the same as its elements do as lines:
 *
 *   {"prompt": "…", "completion": "…"}
 *       The tokens of both, each encoded by itself, with the tokenizer's begin token in front,
 * where its texts are framed with one, and its end token behind. Loss is on the completion and the
 *       end.
 *   {"messages": [{"role": "system" | "user" | "assistant", "content": "…"}, …]}
 *       A chat of Llama 3's form (tokenizer/chat.h). Loss is on the content of each of the
 * assistant's messages and the <|eot_id|> behind it.
 *   {"conversations": [{"from": "system" | "human" | "gpt", "value": "…"}, …]}
 *       The same as ShareGPT writes it.
 *   {"instruction": "…", "input": "…", "output": "…"}
 *       Of Alpaca (Taori et al., 2023), with its own words around; "input" may be empty, null or
 * missing. A prompt and a completion from there on.
 *
 * The first token bears no loss, as nothing is before it.
 *
 * Called lines below, be they elements of a list. Faulty are lines with an empty completion or
 * without any of the assistant's, and lines longer than allowed. The first of them is refused by
 * its line; or, where it is wished, all are left out and counted. Long ones may be cut off at their
 * end instead; those of which no token that bears loss would be left stay faulty. Broken JSON,
 * members that are missing or of another type, unknown roles, what is no UTF-8, and what the
 * tokenizer cannot encode, are always refused.
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

/* What samples are filled up with: the tokenizer's padding, or 0 where it has none. */
int32_t yk_instructions_padding_id(const struct yk_instructions *instructions);

/* "52002 instructions, 5012345 tokens, 2912345 with loss, 0 left out, 0 cut off". */
void yk_instructions_describe(const struct yk_instructions *instructions, struct yk_text *out);

#endif
