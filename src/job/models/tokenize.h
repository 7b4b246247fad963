/*
 * Tokenize: the parts of yoke tokenize, one for each thing it does. What they print goes to `out`.
 * Main thread.
 */
#ifndef YK_JOB_MODELS_TOKENIZE_H
#define YK_JOB_MODELS_TOKENIZE_H

#include "base/option.h"
#include "base/status.h"
#include "base/text.h"
#include "job/text_files.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_tokenize_words {
    struct yk_option_words files;
    const char *tokenizer;
    const char *decode;
    const char *special; /* NULL: not given */
    const char *output;
    int64_t learn;
    int64_t least; /* −1: not given */
    int64_t shard_tokens;
    bool append_end;
    bool json;
    bool quiet;
};

/* Refuses, before any work is done, an output that would take the place of the tokenizer or of one
 * of the files, or whose folder cannot be written to. Makes its lists in `arena`. */
yk_status yk_tokenize_check_output(const struct yk_tokenize_words *words,
                                   const struct yk_text_files *files,
                                   struct yk_arena *arena) YK_MUST_USE;

/* Learns a tokenizer from the files. */
yk_status yk_tokenize_learn(const struct yk_tokenize_words *words, struct yk_text *out) YK_MUST_USE;

/* Writes the tokens of the files into shards. */
yk_status yk_tokenize_encode(const struct yk_tokenize_words *words,
                             struct yk_text *out) YK_MUST_USE;

/* Shows the tokens of the files. */
yk_status yk_tokenize_show(const struct yk_tokenize_words *words, struct yk_text *out) YK_MUST_USE;

/* Prints the text of a shard. */
yk_status yk_tokenize_decode(const struct yk_tokenize_words *words,
                             struct yk_text *out) YK_MUST_USE;

#endif
