/*
 * Text reader: reads a UTF-8 file in chunks, so that a file of any size needs little memory. Gzip
 * data is decompressed (base/input_stream.h). A chunk ends where the text may be cut for the
 * tokenizer (tokenizer/chunk_boundary.h). If it is not known where text may be cut for this
 * tokenizer, the whole file is one chunk. Reading fails if a chunk would be longer than
 * YK_TEXT_READER_MAX_CHUNK_FACTOR normal chunks, or if the text is not UTF-8. Only one thread at a
 * time may use a reader.
 */
#ifndef YK_DATA_TEXT_READER_H
#define YK_DATA_TEXT_READER_H

#include "base/arena.h"
#include "base/status.h"
#include "data/file_list.h"
#include "tokenizer/chunk_boundary.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    /* Recommended chunk size: a chunk and what is made of it fit into a processor's cache. */
    YK_TEXT_READER_CHUNK_BYTES = 1 << 18,
    YK_TEXT_READER_MAX_CHUNK_FACTOR = 4096, /* a chunk without a place to cut may be up to this many
                                        times as long as a normal chunk */
};

struct yk_text_reader;

/* Opens a file, or standard input if the path is "-". A chunk has at most `chunk` bytes, unless
 * these bytes have no place to cut. `cut` is copied. */
yk_status yk_text_reader_open(const char *path, const struct yk_chunk_boundary_rules *cut,
                              size_t chunk, struct yk_text_reader **out) YK_MUST_USE;
void yk_text_reader_close(struct yk_text_reader *reader);

/* Sets a flag that stops the reader: reading fails with YK_ERROR_STOPPED once `*stop` is true. NULL
 * means: no flag. */
void yk_text_reader_set_stop_flag(struct yk_text_reader *reader, const atomic_bool *stop);

/* Reads the next chunk, which is valid until the next call. Sets `*length` to 0 at the end of the
 * file. */
yk_status yk_text_reader_read_next_chunk(struct yk_text_reader *reader, const char **text,
                                         size_t *length) YK_MUST_USE;

/* Returns where in the file the next chunk begins. */
int64_t yk_text_reader_get_position(const struct yk_text_reader *reader);

/* Sets `*out` to whether the file is UTF-8 text and not empty. */
yk_status yk_text_reader_is_text_file(const char *path, bool *out) YK_MUST_USE;

/* Removes all files from the list of a folder that are not UTF-8 text, and logs a warning that says
 * how many these are and names the first one. Also removes empty files, without a warning.
 * Allocates the list in the arena. */
yk_status yk_text_reader_select_text_files(const char *folder, struct yk_arena *arena,
                                           struct yk_file_list *files) YK_MUST_USE;

#endif
