/*
 * Token shard: a file of tokens in llm.c's format. The file has a header of 256 int32 (magic,
 * version, number of tokens, zeros), then the tokens. All numbers are little-endian. GPT-2's tokens
 * are uint16 (magic 20240520, version 1). The tokens of larger vocabularies, such as Llama 3's, are
 * uint32 (magic 20240801, version 7). Opening a file checks its size. Tokens are read with pread(),
 * so any number of threads may read from the same shard.
 */
#ifndef YK_DATA_TOKEN_SHARD_H
#define YK_DATA_TOKEN_SHARD_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_TOKEN_SHARD_HEADER_BYTES = 1024
};

/* One of the two variants of the format. */
struct yk_token_shard_format {
    int32_t magic;
    int32_t version;
    int32_t token_bytes; /* 2 or 4 */
};

extern const struct yk_token_shard_format yk_token_shard_format_uint16;
extern const struct yk_token_shard_format yk_token_shard_format_uint32;

struct yk_token_shard_header {
    const struct yk_token_shard_format *format;
    int64_t count; /* number of tokens in the file */
};

struct yk_token_shard;

/* Parses the header from the first `length` bytes of a file of `file_size` bytes. `source` is the
 * prefix of error messages. */
yk_status yk_token_shard_parse_header(const unsigned char *bytes, size_t length, uint64_t file_size,
                                      const char *source,
                                      struct yk_token_shard_header *out) YK_MUST_USE;

yk_status yk_token_shard_open(const char *path, struct yk_token_shard **out) YK_MUST_USE;
void yk_token_shard_close(struct yk_token_shard *shard);

int64_t yk_token_shard_token_count(const struct yk_token_shard *shard);

/* Reads tokens `first` to `first` + `count` - 1, which must be in range. Fails if a token is above
 * INT32_MAX. */
yk_status yk_token_shard_read_tokens(const struct yk_token_shard *shard, int64_t first,
                                     int64_t count, int32_t *out) YK_MUST_USE;

/*
 * Writes one file, or a series of files NAME_000000.bin, NAME_000001.bin … with a fixed number of
 * tokens in each. Files are written under temporary names and renamed when all files are complete,
 * so a failure leaves existing files unchanged. The header is written last; so if the destination
 * is not a regular file (a device, a pipe, a symbolic link), the writer completes a temporary file
 * and then copies it to the destination. Only one thread at a time may use a writer.
 */
struct yk_token_shard_writer;

struct yk_token_shard_writer_request {
    const char *path;   /* path of the file; for a series: "NAME.bin" */
    int32_t vocabulary; /* size of the vocabulary; all token ids must be below it. With a size up to
                           65536, tokens have two bytes, otherwise four */
    int64_t shard_tokens; /* number of tokens in each file of a series except the last; 0 means:
                             write one file */
};

yk_status yk_token_shard_writer_create(const struct yk_token_shard_writer_request *request,
                                       struct yk_token_shard_writer **out) YK_MUST_USE;
/* Removes unfinished files. */
void yk_token_shard_writer_destroy(struct yk_token_shard_writer *writer);

yk_status yk_token_shard_writer_add_tokens(struct yk_token_shard_writer *writer,
                                           const int32_t *tokens, int64_t count) YK_MUST_USE;

struct yk_token_shard_write_summary {
    int64_t tokens;
    int64_t bytes;
    int32_t files;
};

/* Renames the files to their final names. Fails if no token was added. */
yk_status yk_token_shard_writer_finish(struct yk_token_shard_writer *writer,
                                       struct yk_token_shard_write_summary *out) YK_MUST_USE;

#endif
