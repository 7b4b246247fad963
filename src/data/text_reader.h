/*
 * Text reader: reads a UTF-8 file in chunks, so that a file of any size needs little memory. A
 * chunk ends where the tokenizer allows a cut (tokenizer/chunk_boundary.h). If no cut is possible,
 * the whole file is one chunk. A chunk above the limit below is an error. Text that is not UTF-8 is
 * an error with line and column. One thread at a time may use a reader.
 */
#ifndef YK_DATA_TEXT_READER_H
#define YK_DATA_TEXT_READER_H

#include "base/status.h"
#include "tokenizer/chunk_boundary.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    YK_TEXT_READER_CHUNK_BYTES = 1 << 22, /* recommended chunk size */
    YK_TEXT_READER_MAX_CHUNKS =
        256, /* a chunk without a place to cut may be this many times as long */
};

struct yk_text_reader;

/* Opens a file, or standard input if the path is "-". A chunk has at most `chunk` bytes, unless
 * there is no place to cut. Copies `cut`. */
yk_status yk_text_reader_open(const char *path, const struct yk_chunk_boundary_rules *cut,
                              size_t chunk, struct yk_text_reader **out) YK_MUST_USE;
void yk_text_reader_close(struct yk_text_reader *reader);

/* Reading fails with YK_ERROR_STOPPED once `*stop` is true. NULL means: no flag. */
void yk_text_reader_set_stop(struct yk_text_reader *reader, const atomic_bool *stop);

/* Reads the next chunk, which is valid until the next call. Its length is 0 at the end of the file.
 */
yk_status yk_text_reader_next(struct yk_text_reader *reader, const char **text,
                              size_t *length) YK_MUST_USE;

/* Whether a file is UTF-8 text and not empty. */
yk_status yk_text_reader_check(const char *path, bool *out) YK_MUST_USE;

#endif
