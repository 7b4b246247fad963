/*
 * Instructions: prompts and completions as tokens. The source is a file or a folder. A file has one
 * JSON object per line, or is one list of objects. The files of a folder are read as if they were
 * one file. Unknown members, blank lines and a byte order mark are ignored. An object has one of
 * four formats:
 *
 *   {"prompt": "…", "completion": "…"}
 *       Prompt and completion are encoded separately. The begin token comes before the prompt, if
 *       the tokenizer adds begin tokens. The end token comes after the completion; a tokenizer
 *       without an end token is an error. The completion and the end token are part of the loss.
 *   {"messages": [{"role": "system" | "user" | "assistant", "content": "…"}, …]}
 *       A chat in Llama 3's format (tokenizer/chat_template.h). The content of the assistant's
 *       messages and the <|eot_id|> after each of them are part of the loss.
 *   {"conversations": [{"from": "system" | "human" | "gpt", "value": "…"}, …]}
 *       A chat in ShareGPT's format, which is encoded in the same way.
 *   {"instruction": "…", "input": "…", "output": "…"}
 *       Alpaca's format (Taori et al., 2023): a template converts it to a prompt and a completion.
 *       "input" may be empty, null or missing.
 *
 * The first token is never part of the loss. An instruction is faulty if its completion is empty,
 * if a chat has no message of the assistant, if one of the assistant's messages is empty or only
 * white space, or if the instruction is longer than allowed. Either the first faulty instruction is
 * an error, whose message contains the line, or all faulty instructions are skipped and counted.
 * Instructions that are too long can be truncated instead, if a token that is part of the loss
 * remains. Invalid JSON, missing members, members of another type, unknown roles, and text that is
 * not UTF-8 or cannot be encoded are always errors.
 *
 * All tokens are held in memory, five bytes each. Instructions are immutable: any number of threads
 * may use them. They do not refer to the request.
 */
#ifndef YK_DATA_INSTRUCTIONS_H
#define YK_DATA_INSTRUCTIONS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "data/file_list.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Callers must not change the members. */
struct yk_instructions {
    int64_t count;
    int32_t padding_id; /* padding token of the tokenizer, or 0 if the tokenizer has none */

    struct yk_token_ids ids;
    bool *bears;     /* (ids) whether the token is part of the loss */
    int64_t *starts; /* (count + 1) index in `ids` of the first token of each instruction */
    int64_t *lines;  /* (count) member `line` of each struct yk_instruction */
    int64_t skipped; /* number of faulty instructions that were skipped */
    int64_t cut;     /* number of instructions that were truncated */
};

struct yk_instructions_request {
    const char *path;
    const struct yk_tokenizer *tokenizer;
    int64_t longest;  /* maximum number of tokens of an instruction */
    bool skip_faulty; /* skip faulty instructions; false means: the first one is an error */
    bool cut_long;    /* truncate instructions that are too long */
    double from;      /* skip this fraction of all lines or list elements at the beginning */
    double until;     /* stop after this fraction of all lines or list elements; 0 means: read to
                         the end. The result may be empty if `from` is above 0. */
};

struct yk_instruction {
    const int32_t *tokens; /* (count) */
    const bool *has_loss;  /* (count) whether the token is part of the loss */
    int64_t count;
    int64_t line; /* number of the line in its file, or of the element in its list; from 1 */
};

struct yk_instruction_totals {
    int64_t instructions;
    int64_t skipped;
    int64_t cut;
    int64_t tokens;
    int64_t loss_tokens; /* tokens that are part of the loss */
    int64_t longest;     /* tokens of the longest instruction */
};

yk_status yk_instructions_open(const struct yk_instructions_request *request,
                               struct yk_instructions **out) YK_MUST_USE;

/* Reads the instructions from `bytes` instead of a file. Error messages contain the path of the
 * request. */
yk_status yk_instructions_parse(const char *bytes, size_t length,
                                const struct yk_instructions_request *request,
                                struct yk_instructions **out) YK_MUST_USE;
void yk_instructions_close(struct yk_instructions *instructions);

struct yk_instruction_totals
yk_instructions_compute_totals(const struct yk_instructions *instructions);

/* Returns instruction `index`, in the order of the lines. The tokens belong to `instructions`. */
struct yk_instruction yk_instructions_at(const struct yk_instructions *instructions, int64_t index);

/* Appends "52002 instructions, 5012345 tokens, 2912345 with loss, 0 left out, 0 cut off". */
void yk_instructions_describe(const struct yk_instructions *instructions, struct yk_text *out);

/*
 * ---- instruction files: finds the files of a path that contain instructions ----
 *
 * A JSON file is a file whose name ends in .jsonl, .ndjson or .json, or in one of them and .gz
 * (upper or lower case). Gzip data is decompressed, whatever the name of the file. A file
 * begins with an instruction if its first JSON object, which may be in a list, has the members of
 * an instruction and ends within the first YK_INSTRUCTION_FILES_BEGINNING_BYTES bytes.
 *   a single file   contains instructions if it is a JSON file or begins with an instruction
 *   a folder        contains instructions if a file in it (data/file_list.h) begins with one. All
 *                   its JSON files are then read, too. It is an error if another file is text.
 * In a folder without instructions, JSON files count as text if there is other text; otherwise they
 * are an error. Any thread may call these functions.
 */

enum {
    YK_INSTRUCTION_FILES_BEGINNING_BYTES = 1 << 20
};

/* Finds the instruction files at `path`, a file or a folder. The list is empty if the path contains
 * text or tokens. Ignores files that are not regular files. Allocates the list in the arena. */
yk_status yk_instruction_files_find(const char *path, struct yk_arena *arena,
                                    struct yk_file_list *out) YK_MUST_USE;

/* Returns whether a file that begins with `bytes` contains instructions. */
bool yk_instruction_files_recognize_beginning(const char *bytes, size_t length);

#endif
