/*
 * File: reads and writes whole files, and opens files safely.
 *
 * A path may come from an untrusted file. Therefore reads are limited in size and never block on
 * special files: only regular files, and pipes that this process inherited, are read. A file is
 * written under a temporary name and renamed when it is complete, so that a failure leaves the old
 * file unchanged.
 */
#ifndef YK_BASE_FILE_H
#define YK_BASE_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The maximum sizes of files that are read as a whole. Documents are plans, clusters and
 * configurations of models. The limit for traces also holds for metrics; both grow with the length
 * of a run. Parsed JSON takes up to about 20 times the memory of its text. */
#define YK_FILE_MAX_DOCUMENT_BYTES (UINT64_C(64) << 20)
#define YK_FILE_MAX_TOKENIZER_BYTES (UINT64_C(256) << 20)
#define YK_FILE_MAX_TRACE_BYTES (UINT64_C(2) << 30)

/* Appends the content of a document to `out`. The path "-" means: standard input. Fails if the file
 * is longer than YK_FILE_MAX_DOCUMENT_BYTES. */
yk_status yk_file_read_document(const char *path, struct yk_text *out) YK_MUST_USE;

/* Reads a document into the arena and adds a terminating zero, which `*out_length` does not
 * count. */
yk_status yk_file_read_document_to_arena(const char *path, struct yk_arena *arena, const char **out,
                                         size_t *out_length) YK_MUST_USE;

/* Does the same as yk_file_read_document(), but with a limit of `most` bytes. */
yk_status yk_file_read_with_limit(const char *path, uint64_t most, struct yk_text *out) YK_MUST_USE;

/* Does the same as yk_file_read_document() for training data. Gzip data (base/input_stream.h) is
 * decompressed. The limit for all bytes in `out` together is one eighth of the free memory, because
 * the data needs several times its size after conversion. The limit is never less than
 * YK_FILE_MAX_DOCUMENT_BYTES. There is no limit if the size of the free memory is unknown. */
yk_status yk_file_read_training_data(const char *path, struct yk_text *out) YK_MUST_USE;

/* Opens a regular file for reading. If `pipes` is true, also opens a pipe that this process
 * inherited. Never blocks. The caller closes the descriptor. */
yk_status yk_file_open_for_reading(const char *path, bool pipes, int *out) YK_MUST_USE;

/* Reads `length` bytes at `offset`. Returns the number of bytes that were read, which is less than
 * `length` if the file ends before. Returns -1 and sets errno on failure. */
int64_t yk_file_read_at(int descriptor, uint64_t offset, void *to, uint64_t length);

/* Writes `length` bytes at the current position. Returns 0 on success, otherwise the value of
 * errno. */
int yk_file_write_to_descriptor(int descriptor, const void *bytes, size_t length);

/* Fails if `bytes`, the beginning of a file, are those of a pointer that Git leaves in place of a
 * large file where git-lfs is not installed. The functions above that read whole files call it. */
yk_status yk_file_check_not_lfs_pointer(const char *path, const char *bytes,
                                        size_t length) YK_MUST_USE;

/* Fails if `path` exists and is not a regular file. For callers that open the file themselves. */
yk_status yk_file_check_regular(const char *path) YK_MUST_USE;

/*
 * The next three functions are for paths inside the program's own folders, which contain no
 * symbolic links. They fail if `path` is a symbolic link.
 *
 * yk_file_open_nofollow_for_writing() opens a regular file for writing and creates it if it does
 * not exist. `flags` are flags of open(); O_CREAT is added. yk_file_check_not_symlink() only checks
 * `path`.
 */
yk_status yk_file_open_nofollow_for_writing(const char *path, int flags, int *out) YK_MUST_USE;
yk_status yk_file_check_not_symlink(const char *path) YK_MUST_USE;

/* Does the same as yk_file_write(), but fails if `path` exists and is not a regular file. */
yk_status yk_file_write_nofollow(const char *path, const struct yk_text *text) YK_MUST_USE;

/* Replaces the content of a file with `text`. If `path` exists and is not a regular file (for
 * example a pipe, a terminal or a symbolic link), opens it and writes `text` to it. */
yk_status yk_file_write(const char *path, const struct yk_text *text) YK_MUST_USE;

/* Writes several files that belong together. All regular files are written completely under
 * temporary names before the first one is renamed, so that a full disk leaves all old files
 * unchanged. */
yk_status yk_file_write_several(const char *const *paths, const struct yk_text *const *texts,
                                size_t count) YK_MUST_USE;

#endif
