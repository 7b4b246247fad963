/*
 * Instruction files: which files of some data hold instructions (data/instructions.h), and no text.
 *
 * A file holds instructions
 *   by its name      .jsonl, .ndjson or .json, in capitals or not,
 *   by its beginning where that is an object with the members of an instruction, or a list whose
 *                    first element is one; of a file, its first YK_INSTRUCTION_FILES_DETECT_BYTES
 * bytes are looked at. A folder holds instructions where all files in it do (data/file_list.h says
 * which count). Files that are not text are left out, as everywhere. Beside text, JSON of another
 * kind is text as well: the package.json of some source code; alone it is refused. Instructions
 * beside text are refused by the name of a file: one or the other would not be learned from as it
 * is meant.
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
