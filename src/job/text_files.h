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

/* Takes the next piece of a file; one of no bytes says that the file ends. */
struct yk_text_files_consumer {
    yk_status (*consume)(void *user, const char *path, const char *text, size_t length);
    void *user;
};

/* Hands over all pieces; the job's progress is called `what`. `*bytes` is how many there were;
 * without any it fails. A job that is stopped ends between two pieces, or when the taker does:
 * YK_ERROR_STOPPED. */
yk_status yk_text_files_read(const struct yk_text_files *files, const struct yk_chunk_boundary *cut,
                             const char *what, const struct yk_text_files_consumer *consumer,
                             const struct yk_job *job, int64_t *bytes) YK_MUST_USE;

/* YK_ERROR_STOPPED, in the words for who has written nothing. */
yk_status yk_text_files_fail_stopped(void);

#endif
