/* Tokenize output: whether a tokenizer or shards can be written where they are to be. Any thread
 * may call this. */
#ifndef YK_JOB_MODELS_TOKENIZE_OUTPUT_H
#define YK_JOB_MODELS_TOKENIZE_OUTPUT_H

#include "base/arena.h"
#include "base/status.h"
#include "job/text_files.h"

#include <stdbool.h>

struct yk_tokenize_target {
    const char *path;
    bool is_series;        /* of files whose names begin with the path */
    const char *tokenizer; /* that is read; NULL: none */
};

/* Refuses, before any work is done, an output that would take the place of the tokenizer or of one
 * of the files, or whose folder cannot be written to. Makes its lists in `arena`. */
yk_status yk_tokenize_target_check(const struct yk_tokenize_target *output,
                                   const struct yk_text_files *files,
                                   struct yk_arena *arena) YK_MUST_USE;

#endif
