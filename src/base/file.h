/*
 * File: whole files in and out, and how a file that somebody named is opened.
 *
 * A name may come from a file that was received, so nothing is read without end and nothing waits:
 * what is read is a regular file, or a pipe that this process was handed. A file is written under
 * another name and renamed when complete, so that a failure leaves what was there before.
 */
#ifndef YK_BASE_FILE_H
#define YK_BASE_FILE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The most bytes of a file that is read whole, by what it holds: a document (a plan, a cluster, a
 * model's configuration), a tokenizer, or a record (a trace, metrics), which grows with the run.
 * Parsed JSON takes up to about 20 times as much memory as its text. */
#define YK_FILE_DOCUMENT_BYTES (UINT64_C(64) << 20)
#define YK_FILE_TOKENIZER_BYTES (UINT64_C(256) << 20)
#define YK_FILE_RECORD_BYTES (UINT64_C(2) << 30)

/* Adds all of a document to `out`; the path "-" is standard input. */
yk_status yk_file_read(const char *path, struct yk_text *out) YK_MUST_USE;

/* The same for a file of at most `most` bytes. */
yk_status yk_file_read_limited(const char *path, uint64_t most, struct yk_text *out) YK_MUST_USE;

/* The same for data: `out` may become as long as an eighth of the memory that is free, because what
 * is made of it takes several times as much. */
yk_status yk_file_read_data(const char *path, struct yk_text *out) YK_MUST_USE;

/* Opens a regular file for reading; with `pipes`, also a pipe that this process was handed. Never
 * waits. The caller closes the descriptor. */
yk_status yk_file_open(const char *path, bool pipes, int *out) YK_MUST_USE;

/* For who opens a file by its name itself: fails, as above, where something else has that name.
 * What is not there is left to the opening. */
yk_status yk_file_check_regular(const char *path) YK_MUST_USE;

/*
 * For names within a folder of the program's own, where it makes no symbolic links and follows
 * none: opens the file for writing and creates it where it does not exist (`flags` of open(), in
 * addition to O_CREAT), or fails with the reason why `path` must not be written.
 */
yk_status yk_file_open_nofollow(const char *path, int flags, int *out) YK_MUST_USE;
yk_status yk_file_check_nofollow(const char *path) YK_MUST_USE;

/* Replaces a regular file, as yk_file_write() does, and nothing else. */
yk_status yk_file_write_nofollow(const char *path, const struct yk_text *text) YK_MUST_USE;

/* Replaces the file by `text`; a path that is no plain file (a pipe, a terminal) is written to. */
yk_status yk_file_write(const char *path, const struct yk_text *text) YK_MUST_USE;

/* The same for files that are of use only together: every one is written before the first of them
 * is replaced, so that a full disk leaves all of them as they were. */
yk_status yk_file_write_all(const char *const *paths, const struct yk_text *const *texts,
                            size_t count) YK_MUST_USE;

#endif
