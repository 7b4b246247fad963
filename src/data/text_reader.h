/*
 * Text reader: a file of UTF-8 text, chunk by chunk, so that a file of any size needs little
 * memory. Chunks end where the text may be cut (tokenizer/chunk_boundary.h); where nothing is known
 * about that, all of it is one chunk. A chunk beyond the limits below is refused, and what is not
 * text by its line and column. One thread at a time.
 */
#ifndef YK_DATA_TEXT_READER_H
#define YK_DATA_TEXT_READER_H

#include "base/status.h"
#include "tokenizer/chunk_boundary.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    YK_TEXT_READER_CHUNK_BYTES = 1 << 22, /* bytes that suit */
    YK_TEXT_READER_MAX_CHUNKS = 256, /* times as long at most, where there is no place to cut */
};

struct yk_text_reader;

/* The path "-" is standard input. Chunks have `chunk` bytes or less, unless there is no place to
 * cut. `cut` is copied. */
yk_status yk_text_reader_open(const char *path, const struct yk_chunk_boundary *cut, size_t chunk,
                              struct yk_text_reader **out) YK_MUST_USE;
void yk_text_reader_close(struct yk_text_reader *reader);

/* Once the flag is set, a chunk that is being read ends with YK_ERROR_STOPPED. NULL: none. */
void yk_text_reader_set_stop(struct yk_text_reader *reader, const atomic_bool *stop);

/* The next chunk, which stays until the next call; of 0 bytes at the end. */
yk_status yk_text_reader_next(struct yk_text_reader *reader, const char **text,
                              size_t *length) YK_MUST_USE;

/* Whether a file is text, and not empty: what a folder's other files are not. */
yk_status yk_text_reader_check(const char *path, bool *out) YK_MUST_USE;

#endif
