/*
 * Text files: files and folders that a job was given, read one after the other in chunks. Of
 * folders, what is no text is left out; a file named outright must be text. The list belongs to its
 * arena. One thread at a time.
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
    double bytes; /* as far as it is known beforehand */
};

/* What there is at `count` paths; of no paths, standard input alone. */
yk_status yk_text_files_list(const char *const *paths, int32_t count, struct yk_arena *arena,
                             struct yk_text_files *out) YK_MUST_USE;

/* Is given the next chunk of a file; a chunk of 0 bytes marks the end of the file. */
struct yk_text_files_consumer {
    yk_status (*consume)(void *user, const char *path, const char *text, size_t length);
    void *user;
};

/* Passes all chunks to the consumer; the job reports its progress as `what`. `*bytes` is how many
 * bytes there were; it is an error if there were none. A job that is asked to stop ends between two
 * chunks, or when the consumer does: YK_ERROR_STOPPED. */
yk_status yk_text_files_read(const struct yk_text_files *files, const struct yk_chunk_boundary *cut,
                             const char *what, const struct yk_text_files_consumer *consumer,
                             const struct yk_job *job, int64_t *bytes) YK_MUST_USE;

/* YK_ERROR_STOPPED, with a sentence for a job that has written nothing. */
yk_status yk_text_files_fail_stopped(void);

#endif
