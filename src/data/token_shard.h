/*
 * Token shard: a file of tokens as llm.c writes them: 256 int32 (magic 20240520, version 1, how
 * many tokens there are, zeros), then the tokens as uint16; all little-endian.
 *
 * The size of the file is checked when it is opened. Tokens are read with pread: any number of
 * threads may read from one shard.
 */
#ifndef YK_DATA_TOKEN_SHARD_H
#define YK_DATA_TOKEN_SHARD_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_TOKEN_SHARD_HEADER_BYTES = 1024
};

struct yk_token_shard;

/* How many tokens a file of `file_size` bytes that begins with `bytes` holds. */
yk_status yk_token_shard_parse(const unsigned char *bytes, size_t length, uint64_t file_size,
                               const char *source, int64_t *out) YK_MUST_USE;

yk_status yk_token_shard_open(const char *path, struct yk_token_shard **out) YK_MUST_USE;
void yk_token_shard_close(struct yk_token_shard *shard);

int64_t yk_token_shard_count(const struct yk_token_shard *shard);

/* Tokens `first` to `first` + `count` - 1, which must be there. */
yk_status yk_token_shard_read(const struct yk_token_shard *shard, int64_t first, int64_t count,
                              int32_t *out) YK_MUST_USE;

#endif
