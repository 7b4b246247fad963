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

#endif
