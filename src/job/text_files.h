/*
 * Text files: reads text files and folders one after another, in chunks. Files in a folder that are
 * not text are skipped; a file that is named itself must be text. The list is allocated in an
 * arena. Not thread-safe.
 */
#ifndef YK_JOB_TEXT_FILES_H
#define YK_JOB_TEXT_FILES_H

#include "base/arena.h"
#include "base/status.h"
#include "job/job.h"
#include "tokenizer/chunk_boundary.h"

#include <stddef.h>
#include <stdint.h>

struct yk_text_files {
    const char **paths; /* "-": standard input */
    int32_t count;
    double bytes; /* total size of the regular files; standard input and pipes count as 0 */
};

/* Lists the files at `count` paths. No paths means: standard input. */
yk_status yk_text_files_list(const char *const *paths, int32_t count, struct yk_arena *arena,
                             struct yk_text_files *out) YK_MUST_USE;

/* Receives the chunks of a file in order; a chunk of 0 bytes marks the end of the file. */
struct yk_text_files_consumer {
    yk_status (*consume)(void *user, const char *path, const char *text, size_t length);
    void *user;
};

/* Passes all chunks to the consumer and reports progress under the name `what`. `*bytes` is set to
 * the number of bytes read; no bytes at all is an error. Returns YK_ERROR_STOPPED if the job is
 * asked to stop, which is checked between two chunks. */
yk_status yk_text_files_read(const struct yk_text_files *files,
                             const struct yk_chunk_boundary_rules *cut, const char *what,
                             const struct yk_text_files_consumer *consumer,
                             const struct yk_job_callbacks *job, int64_t *bytes) YK_MUST_USE;

/* Fails with YK_ERROR_STOPPED and the message that nothing was written. */
yk_status yk_text_files_fail_stopped(void);

#endif
