/*
 * Instruction files: finds the files of a path that contain instructions (data/instructions.h). A
 * file contains instructions if one of these conditions is true:
 *   its name   ends in .jsonl, .ndjson or .json (upper or lower case)
 *   its start  is an object with the members of an instruction, or a list of these objects; only
 *              the first YK_INSTRUCTION_FILES_BEGINNING_BYTES bytes are examined
 * A folder contains instructions if all its text files contain instructions (data/file_list.h). In
 * a folder with other text, JSON files without instructions count as text; in any other folder they
 * are an error. A folder with both instructions and text is an error. Any thread may call these
 * functions.
 */
#ifndef YK_DATA_INSTRUCTION_FILES_H
#define YK_DATA_INSTRUCTION_FILES_H

#include "base/arena.h"
#include "base/status.h"
#include "data/file_list.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_INSTRUCTION_FILES_BEGINNING_BYTES = 1 << 20
};

/* Finds the instruction files at `path`, a file or a folder. The list is empty if the path contains
 * text or tokens. Ignores files that are not regular files. Allocates the list in the arena. */
yk_status yk_instruction_files_find(const char *path, struct yk_arena *arena,
                                    struct yk_file_list *out) YK_MUST_USE;

/* Returns whether a file that begins with `bytes` contains instructions. */
bool yk_instruction_files_match_beginning(const char *bytes, size_t length);

#endif
