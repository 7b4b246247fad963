/*
 * Chat files: the files beside a tokenizer that say how the chats of its model are written, in the
 * format of Hugging Face's transformers:
 *
 *   chat_template.jinja                     the chat template
 *   additional_chat_templates/NAME.jinja    templates with names; "tool_use" is for tools
 *   tokenizer_config.json                   special tokens and, in older folders, templates
 *   special_tokens_map.json                 special tokens of even older folders
 *
 * The files are kept as they were read, so that a checkpoint or an exported folder gets what the
 * model came with. Templates with names are moved to "chat_template" of tokenizer_config.json,
 * where transformers reads them, too: three files without subfolders remain.
 * tokenizer/chat/chat_template.h interprets them. A struct yk_chat_files starts as {0}. Any number
 * of threads may read it.
 */
#ifndef YK_TOKENIZER_CHAT_CHAT_FILES_H
#define YK_TOKENIZER_CHAT_CHAT_FILES_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum yk_chat_file {
    YK_CHAT_FILE_TEMPLATE,
    YK_CHAT_FILE_CONFIG,
    YK_CHAT_FILE_SPECIAL_TOKENS,
    YK_CHAT_FILE_COUNT
};

struct yk_chat_files {
    struct yk_text texts[YK_CHAT_FILE_COUNT];
    bool exists[YK_CHAT_FILE_COUNT];
    struct yk_text sources[YK_CHAT_FILE_COUNT]; /* paths, for error messages */
};

/* Returns the name of a file, such as "chat_template.jinja". */
const char *yk_chat_files_name(enum yk_chat_file file);

/* Reads the files of `folder` that exist. Does not parse them, unless there are templates with
 * names. */
yk_status yk_chat_files_read_folder(const char *folder, struct yk_chat_files *out) YK_MUST_USE;

/* Reads a template from a file. It goes before the templates in tokenizer_config.json. */
yk_status yk_chat_files_read_template(struct yk_chat_files *files, const char *path) YK_MUST_USE;

void yk_chat_files_free(struct yk_chat_files *files);

#endif
