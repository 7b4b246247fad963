/*
 * Instructions: prompts and completions as tokens. The source is a file or a folder. A file has one
 * JSON object per line, or is one list of objects; gzip data is decompressed. The files of a folder
 * are read as if they were one file. Unknown members, blank lines and a byte order mark are
 * ignored. An object has one of these forms:
 *
 *   {"messages": [{"role": "user", "content": "…"}, …]}
 *       A conversation in OpenAI's form, which the chat template of the model writes
 *       (tokenizer/chat/chat_template.h). What the assistant says is part of the loss
 *       (tokenizer/chat/chat_mask.h). Messages are passed to the template with all their members
 *       ("tool_calls", "reasoning_content" …); "tools" (a list, or its JSON text), "documents" and
 *       "chat_template_kwargs" (an object with variables of the template) of the object, too.
 *   {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}, …]}
 *       A conversation in ShareGPT's form. Roles are "system", "human", "gpt", "tool",
 *       "observation" (what a tool returned) and "function_call", whose value is the JSON text of a
 *       call, {"name": …, "arguments": …}, or of a list of calls. The object may have "system" and
 *       all other members of the form above. Both forms may have either kind of messages.
 *   {"prompt": "…", "completion": "…"}
 *       Prompt and completion are encoded separately. The begin token comes before the prompt, if
 *       the tokenizer adds begin tokens. The end token comes after the completion; a tokenizer
 *       without an end token is an error. The completion and the end token are part of the loss.
 *   {"prompt": [messages], "completion": [messages]}
 *       A conversation. All that follows the prompt is part of the loss.
 *   {"instruction": "…", "input": "…", "output": "…"}
 *       Alpaca's form (Taori et al., 2023). "input" may be empty, null or missing. If the model has
 *       a chat template of its own, this becomes a conversation: "system" if there is one, the
 *       questions and answers of "history" ([["…", "…"], …]), instruction and input with a newline
 *       between them as the user's message, and the output as the answer. Otherwise Alpaca's words
 *       make it a prompt and a completion.
 *   {"text": "…"}
 *       A text, all of which is part of the loss, with the begin and the end token around it, if
 *       the tokenizer has them.
 *
 * The first token is never part of the loss. An instruction is faulty if its completion is empty,
 * if a conversation has no message of the assistant, if one of the assistant's messages says
 * nothing, if the chat template refuses the conversation or marks no token as the assistant's, or
 * if the instruction is longer than allowed. Either the first faulty instruction is an error, whose
 * message contains the line, or all faulty instructions are skipped and counted. Instructions that
 * are too long can be truncated instead, if a token that is part of the loss remains. Invalid JSON,
 * missing members and members of another type are always errors.
 *
 * All tokens are held in memory, five bytes each. Instructions are immutable: any number of threads
 * may use them. They do not refer to the request.
 */
#ifndef YK_DATA_INSTRUCTIONS_H
#define YK_DATA_INSTRUCTIONS_H

#include "base/arena.h"
#include "base/json.h"
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
    const struct yk_json *chat_variables; /* an object with variables of the chat template; NULL
                                             means: none */
    int64_t longest;                      /* maximum number of tokens of an instruction */
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

/* Always fails, with a message that says that there is no instruction at `path`. `faulty` is how
 * many lines were left out. */
yk_status yk_instructions_empty_error(const char *path, int64_t faulty);

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
