/*
 * Tokenize: encodes text into tokens, decodes tokens into text, and trains tokenizers.
 *
 * Input files are read by job/text_files.h: folders are searched for text files; no files means
 * standard input. Not thread-safe.
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
    YK_TOKENIZE_BYTE_TOKENS = 256, /* byte tokens that every trained tokenizer has */
    YK_TOKENIZE_MAX_TOKENS = YK_TOKEN_MAP_MAX_TOKENS
};

/* Trains a byte-level BPE tokenizer. */
struct yk_tokenize_train_tokenizer_request {
    const char *const *files;
    int32_t file_count;
    int64_t tokens;      /* vocabulary size */
    const char *special; /* special tokens: a style (tokenizer/bpe_file.h) or a comma-separated
                            list; NULL: the style "pairs" */
    int64_t min_times;   /* minimum frequency of a pair to be merged; −1 means 2 */
    const char *output;  /* path of the tokenizer.json */
    const struct yk_job_callbacks *job;
};

struct yk_tokenize_train_tokenizer_result {
    int32_t tokens;  /* vocabulary size; less than requested if no pair was left to merge */
    int32_t special; /* special tokens, included in `tokens` */
    int32_t merges;
    int32_t files;
    int64_t bytes;     /* size of the text */
    int32_t words;     /* distinct words */
    int64_t min_times; /* minimum frequency that was applied */
    double seconds;
};

yk_status yk_tokenize_train_tokenizer(const struct yk_tokenize_train_tokenizer_request *request,
                                      struct yk_tokenize_train_tokenizer_result *out) YK_MUST_USE;

/* The texts to encode, and the tokenizer. */
struct yk_tokenize_input {
    const char *const *files;
    int32_t file_count;
    const char *tokenizer; /* a tokenizer file, or a folder with one */
    bool append_end;       /* append the end-of-text token after each file */
};

/* Encodes text into token shards. */
struct yk_tokenize_encode_request {
    struct yk_tokenize_input input;
    const char *output;   /* the shard (.bin); with shard_tokens: prefix of the shards */
    int64_t shard_tokens; /* tokens per shard; 0: one shard */
    const struct yk_job_callbacks *job;
};

/* Starts as {0}. */
struct yk_tokenize_encode_result {
    struct yk_text tokenizer; /* "byte-level BPE, 50257 tokens" */
    int32_t files;
    int64_t bytes; /* size of the text */
    int64_t tokens;
    int32_t shards;
    int64_t shard_bytes;
    double seconds;
};

yk_status yk_tokenize_encode(const struct yk_tokenize_encode_request *request,
                             struct yk_tokenize_encode_result *out) YK_MUST_USE;
void yk_tokenize_encode_result_free(struct yk_tokenize_encode_result *result);

/* Encodes text and passes each token to a callback. */
struct yk_tokenize_list_tokens_request {
    struct yk_tokenize_input input;
    bool texts; /* also pass the text of each token */

    /* Called at the start of a file, for each token, and at the end of the file. `text` is NULL
     * unless `texts` is set. A failure ends the job. */
    yk_status (*begin)(void *user, const char *path);
    yk_status (*token)(void *user, int32_t id, const char *text);
    yk_status (*end)(void *user);
    void *user;

    const struct yk_job_callbacks *job;
};

yk_status
yk_tokenize_list_tokens(const struct yk_tokenize_list_tokens_request *request) YK_MUST_USE;

/* Decodes a shard and passes its text to a callback in chunks. */
struct yk_tokenize_decode_request {
    const char *tokenizer;
    const char *shard;
    yk_status (*text)(void *user, const char *bytes, size_t length); /* a failure ends the job */
    void *user;
};

yk_status yk_tokenize_decode(const struct yk_tokenize_decode_request *request) YK_MUST_USE;

/* Output path of a tokenizer or of shards. */
struct yk_tokenize_output {
    const char *path;
    bool is_series;        /* `path` is a prefix of several files */
    const char *tokenizer; /* the tokenizer that is read; NULL: none */
};

/* Checks the output before any work is done. Fails if it would overwrite the tokenizer or an input
 * file, or if its folder is not writable. Temporary lists are allocated in `arena`. */
yk_status yk_tokenize_output_check(const struct yk_tokenize_output *output,
                                   const struct yk_text_files *files,
                                   struct yk_arena *arena) YK_MUST_USE;

#endif
