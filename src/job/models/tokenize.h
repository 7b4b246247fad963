/*
 * Tokenize: texts to tokens and back, and tokenizers that are learned from texts.
 *
 * Files are read as job/text_files.h does: folders are gone through, and without any file, standard
 * input is read. One thread at a time.
 */
#ifndef YK_JOB_MODELS_TOKENIZE_H
#define YK_JOB_MODELS_TOKENIZE_H

#include "base/status.h"
#include "base/text.h"
#include "job/job.h"
#include "job/text_files.h"
#include "tokenizer/token_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_TOKENIZE_BYTES = 256, /* tokens that every tokenizer which is learned has */
    YK_TOKENIZE_MAX_TOKENS = YK_TOKEN_MAP_MAX_TOKENS
};

/* Learns a byte-level BPE. */
struct yk_tokenize_learn_request {
    const char *const *files;
    int32_t file_count;
    int64_t tokens;      /* of the tokenizer, in all */
    const char *special; /* a style (tokenizer/bpe_file.h), or names with commas between them; NULL:
                            pairs */
    int64_t min_times;   /* that a pair has to be there to be joined; −1: 2 */
    const char *output;  /* the tokenizer.json */
    const struct yk_job *job;
};

struct yk_tokenize_learn_result {
    int32_t tokens;  /* fewer where no pair was left */
    int32_t special; /* of them */
    int32_t merges;
    int32_t files;
    int64_t bytes;     /* of text */
    int32_t words;     /* that differ */
    int64_t min_times; /* that a pair had to be there */
    double seconds;
};

yk_status yk_tokenize_learn(const struct yk_tokenize_learn_request *request,
                            struct yk_tokenize_learn_result *out) YK_MUST_USE;

/* Which texts become tokens, and by what. */
struct yk_tokenize_input {
    const char *const *files;
    int32_t file_count;
    const char *tokenizer; /* a file, or a folder with one */
    bool append_end;       /* put the token that ends a text behind each file */
};

/* Writes the tokens into shards. */
struct yk_tokenize_encode_request {
    struct yk_tokenize_input input;
    const char *output;   /* the shard (.bin), or what those of a series begin with */
    int64_t shard_tokens; /* in each file of a series; 0: one file */
    const struct yk_job *job;
};

/* Starts as {0}. */
struct yk_tokenize_encode_result {
    struct yk_text tokenizer; /* "byte-level BPE, 50257 tokens" */
    int32_t files;
    int64_t bytes; /* of text */
    int64_t tokens;
    int32_t shards;
    int64_t shard_bytes;
    double seconds;
};

yk_status yk_tokenize_encode(const struct yk_tokenize_encode_request *request,
                             struct yk_tokenize_encode_result *out) YK_MUST_USE;
void yk_tokenize_encode_result_free(struct yk_tokenize_encode_result *result);

/* Hands out the tokens one by one. */
struct yk_tokenize_show_request {
    struct yk_tokenize_input input;
    bool texts; /* of each token are wanted, too */

    /* A file begins, has a token, ends; `text` is NULL where texts are not wanted. A failure ends
     * the job. */
    yk_status (*begin)(void *user, const char *path);
    yk_status (*token)(void *user, int32_t id, const char *text);
    yk_status (*end)(void *user);
    void *user;

    const struct yk_job *job;
};

yk_status yk_tokenize_show(const struct yk_tokenize_show_request *request) YK_MUST_USE;

/* Decodes a shard and passes its text on, chunk by chunk. */
struct yk_tokenize_decode_request {
    const char *tokenizer;
    const char *shard;
    yk_status (*text)(void *user, const char *bytes, size_t length); /* a failure ends the job */
    void *user;
};

yk_status yk_tokenize_decode(const struct yk_tokenize_decode_request *request) YK_MUST_USE;

/* Where a tokenizer or shards are to be written. */
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
