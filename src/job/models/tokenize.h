/*
 * Tokenize: encodes text into tokens, decodes tokens into text, and trains tokenizers.
 *
 * job/text_files.h reads the input files: it searches folders for text files, and reads standard
 * input if no files are given. Not thread-safe.
 */
#ifndef YK_JOB_MODELS_TOKENIZE_H
#define YK_JOB_MODELS_TOKENIZE_H

#include "base/status.h"
#include "base/text.h"
#include "job/chat_options.h"
#include "job/job.h"
#include "job/text_files.h"
#include "tokenizer/token_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_TOKENIZE_BYTE_TOKENS = 256, /* a trained tokenizer has one token for each byte */
    YK_TOKENIZE_MAX_VOCABULARY = YK_TOKEN_MAP_MAX_TOKENS
};

/* Trains a byte-level BPE tokenizer. */
struct yk_tokenize_train_tokenizer_request {
    const char *const *files;
    int32_t file_count;
    int64_t tokens; /* vocabulary size */
    /* Special tokens: the name of a preset (tokenizer/formats/bpe_file.h) or a comma-separated
     * list. NULL means: the preset "pairs". */
    const char *special;
    int64_t min_times;  /* pairs that occur less often than this are not merged; −1 means: 2 */
    const char *output; /* path of the tokenizer.json */
    const struct yk_job_callbacks *job;
};

struct yk_tokenize_train_tokenizer_result {
    /* Vocabulary size; less than requested if there were not enough pairs to merge. */
    int32_t tokens;
    int32_t special; /* number of special tokens; `tokens` includes them */
    int32_t merges;
    int32_t files;
    int64_t bytes;     /* size of the text */
    int32_t words;     /* number of distinct words */
    int64_t min_times; /* min_times of the request, or its default */
    double seconds;
};

yk_status yk_tokenize_train_tokenizer(const struct yk_tokenize_train_tokenizer_request *request,
                                      struct yk_tokenize_train_tokenizer_result *out) YK_MUST_USE;

/* The texts to encode, and the tokenizer. */
struct yk_tokenize_input {
    const char *const *files;
    int32_t file_count;
    const char *tokenizer; /* path of a tokenizer file, or of a folder that contains one */
    bool append_end;       /* append the end-of-text token after each file */
};

/* Encodes text into token shards. */
struct yk_tokenize_write_shards_request {
    struct yk_tokenize_input input;
    /* Path of the shard (.bin). If `shard_tokens` is not 0: prefix of the paths of the shards. */
    const char *output;
    int64_t shard_tokens; /* maximum number of tokens per shard; 0 means: only one shard */
    const struct yk_job_callbacks *job;
};

/* Starts as {0}. */
struct yk_tokenize_write_shards_result {
    struct yk_text tokenizer; /* description: "byte-level BPE, 50257 tokens" */
    int32_t files;
    int64_t bytes; /* size of the text */
    int64_t tokens;
    int32_t shards;
    int64_t shard_bytes;
    double seconds;
};

yk_status yk_tokenize_write_shards(const struct yk_tokenize_write_shards_request *request,
                                   struct yk_tokenize_write_shards_result *out) YK_MUST_USE;
void yk_tokenize_write_shards_result_free(struct yk_tokenize_write_shards_result *result);

/* Encodes text and passes each token to a callback. */
struct yk_tokenize_list_tokens_request {
    struct yk_tokenize_input input;
    bool texts; /* also pass the text of each token */

    /* `begin` is called at the start of each file, `token` for each token, and `end` at the end of
     * the file. `text` is NULL unless `texts` is set. If a callback fails, the job ends. */
    yk_status (*begin)(void *user, const char *path);
    yk_status (*token)(void *user, int32_t id, const char *text);
    yk_status (*end)(void *user);
    void *user;

    const struct yk_job_callbacks *job;
};

yk_status
yk_tokenize_list_tokens(const struct yk_tokenize_list_tokens_request *request) YK_MUST_USE;

/* A conversation, or another instruction, as text and as tokens. */
struct yk_tokenize_chat_conversation {
    const char *text;
    size_t text_length;
    const int32_t *ids; /* (count) */
    const bool *mask;   /* (count) whether a token is part of the loss; NULL: not requested */
    int64_t count;
};

/* Encodes files of instructions (data/instructions.h) and passes each instruction to a callback. */
struct yk_tokenize_chat_request {
    const char *const *files; /* files and folders; none means: standard input */
    int32_t file_count;
    const char *tokenizer; /* path of a tokenizer file, or of a folder that contains one */
    struct yk_chat_options chat;
    bool prompt;    /* with the beginning of another answer after each conversation */
    bool text_only; /* conversations are not encoded */
    bool mask;      /* find the tokens that are part of the loss */
    /* If the callback fails, the job ends. */
    yk_status (*conversation)(void *user, const struct yk_tokenize_chat_conversation *given);
    void *user;
    const struct yk_job_callbacks *job;
};

struct yk_tokenize_chat_result {
    int64_t bytes;  /* of the texts of all instructions */
    double seconds; /* in which they were parsed, rendered and encoded */
};

yk_status yk_tokenize_chat_list(const struct yk_tokenize_chat_request *request,
                                struct yk_tokenize_chat_result *out) YK_MUST_USE;

/* Decodes a shard and passes its text to a callback in chunks. */
struct yk_tokenize_decode_shard_request {
    const char *tokenizer;
    const char *shard;
    yk_status (*text)(void *user, const char *bytes, size_t length); /* if it fails, the job ends */
    void *user;
};

yk_status
yk_tokenize_decode_shard(const struct yk_tokenize_decode_shard_request *request) YK_MUST_USE;

/* The output path of a tokenizer or of token shards. */
struct yk_tokenize_output_path {
    const char *path;
    bool is_series;        /* `path` is the prefix of the paths of several files */
    const char *tokenizer; /* path of the tokenizer that the job reads; NULL means: none */
};

/* Checks the output path before any work is done. Fails if the output would overwrite the tokenizer
 * or an input file, or if the folder of the output is not writable. Allocates temporary lists in
 * `arena`. */
yk_status yk_tokenize_check_output_path(const struct yk_tokenize_output_path *output,
                                        const struct yk_text_files *files,
                                        struct yk_arena *arena) YK_MUST_USE;

#endif
