/*
 * Instruction files: which files of a path hold instructions (data/instructions.h), and no text.
 *   by its name       .jsonl, .ndjson or .json, in capitals or not,
 *   by its beginning  an object with the members of an instruction, or a list whose first element
 * is one, within the first YK_INSTRUCTION_FILES_DETECT_BYTES bytes. A folder holds instructions
 * where all its files do (data/file_list.h); files that are not text are left out. Next to text,
 * JSON of another kind counts as text, alone it is refused. Instructions next to text are refused
 * by the name of a file. Any thread.
 */
#ifndef YK_DATA_INSTRUCTION_FILES_H
#define YK_DATA_INSTRUCTION_FILES_H

#include "base/arena.h"
#include "base/status.h"
#include "data/file_list.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_INSTRUCTION_FILES_DETECT_BYTES = 1 << 20
};

/* The files of instructions at `path`, a file or a folder; none where it holds text, or tokens.
 * What is no regular file is not looked at. The list lives in the arena. */
yk_status yk_instruction_files_find(const char *path, struct yk_arena *arena,
                                    struct yk_file_list *out) YK_MUST_USE;

/* Whether a file that begins with these bytes holds instructions, whatever its name. */
bool yk_instruction_files_detect(const char *bytes, size_t length);

#endif
