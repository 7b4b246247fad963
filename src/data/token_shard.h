/*
 * Token shard: a file of tokens as llm.c writes them: 256 int32 (magic, version, number of tokens,
 * zeros), then the tokens; all little-endian. Tokens of GPT-2 are uint16 (magic 20240520, version
 * 1), those of larger vocabularies such as Llama 3's uint32 (magic 20240801, version 7). The size
 * of the file is checked when it is opened. Tokens are read with pread: any number of threads may
 * read from one shard.
 */
#ifndef YK_DATA_TOKEN_SHARD_H
#define YK_DATA_TOKEN_SHARD_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_TOKEN_SHARD_HEADER_BYTES = 1024
};

/* One of the two forms. */
struct yk_token_shard_form {
    int32_t magic;
    int32_t version;
    int32_t token_bytes; /* 2 or 4 */
};

extern const struct yk_token_shard_form yk_token_shard_narrow;
extern const struct yk_token_shard_form yk_token_shard_wide;

struct yk_token_shard_header {
    const struct yk_token_shard_form *form;
    int64_t count; /* of tokens */
};

struct yk_token_shard;

/* What the header says of a file of `file_size` bytes that begins with `bytes`. */
yk_status yk_token_shard_parse(const unsigned char *bytes, size_t length, uint64_t file_size,
                               const char *source, struct yk_token_shard_header *out) YK_MUST_USE;

yk_status yk_token_shard_open(const char *path, struct yk_token_shard **out) YK_MUST_USE;
void yk_token_shard_close(struct yk_token_shard *shard);

int64_t yk_token_shard_count(const struct yk_token_shard *shard);

/* Tokens `first` to `first` + `count` - 1, which must be there. One that no int32 holds is refused.
 */
yk_status yk_token_shard_read(const struct yk_token_shard *shard, int64_t first, int64_t count,
                              int32_t *out) YK_MUST_USE;

/*
 * Writing: all tokens in one file, or so many in each of a series NAME_000000.bin, NAME_000001.bin
 * … Files are written under temporary names and renamed when all are complete: a failure leaves
 * what was there before. Where such a name is no plain file (a device, a pipe, a link), it is
 * written to when the file is complete, since its header can only be written at the end. One thread
 * at a time.
 */
struct yk_token_shard_writer;

struct yk_token_shard_writer_request {
    const char *path;     /* of the file; "NAME.bin" for a series */
    int32_t vocabulary;   /* one more than the largest token: tokens take two bytes where that is
                             enough, else four */
    int64_t shard_tokens; /* in each file of a series but the last; 0: one file */
};

yk_status yk_token_shard_writer_create(const struct yk_token_shard_writer_request *request,
                                       struct yk_token_shard_writer **out) YK_MUST_USE;
/* What is not finished is removed. */
void yk_token_shard_writer_destroy(struct yk_token_shard_writer *writer);

yk_status yk_token_shard_writer_add(struct yk_token_shard_writer *writer, const int32_t *tokens,
                                    int64_t count) YK_MUST_USE;

struct yk_token_shard_written {
    int64_t tokens;
    int64_t bytes;
    int32_t files;
};

/* Gives the files their names. Without a token it fails. */
yk_status yk_token_shard_writer_finish(struct yk_token_shard_writer *writer,
                                       struct yk_token_shard_written *out) YK_MUST_USE;

#endif
