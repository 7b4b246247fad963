/*
 * Token shard writer: tokens into files as llm.c writes them (data/token_shard.h), all in one or so
 * many in each of a series NAME_000000.bin, NAME_000001.bin … Files are written under temporary
 * names and renamed when all are complete: a failure leaves what was there before. Where such a
 * name is no plain file (a device, a pipe, a link), it is written to when the file is complete,
 * since its header can only be written at the end. One thread at a time.
 */
#ifndef YK_DATA_TOKEN_SHARD_WRITER_H
#define YK_DATA_TOKEN_SHARD_WRITER_H

#include "base/status.h"

#include <stdint.h>

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
