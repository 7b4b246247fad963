/*
 * Tokenize: the parts of yoke tokenize, one for each thing it does. What they print goes to `out`.
 * Main thread.
 */
#ifndef YK_CLI_TOKENIZE_H
#define YK_CLI_TOKENIZE_H

#include "base/status.h"
#include "base/text.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_tokenize_words {
    struct yk_option_words files;
    const char *tokenizer;
    const char *decode;
    const char *special;
    const char *output;
    int64_t learn;
    int64_t least;
    int64_t shard_tokens;
    bool append_end;
    bool json;
    bool quiet;
};

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
