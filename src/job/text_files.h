/*
 * Text files: reads text files and folders one after another, in chunks. In a folder, files that
 * are not text are skipped with a warning. A path that names a file directly must be a text file.
 * The list of files is allocated in an arena. Not thread-safe.
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
    const char **paths; /* the path "-" means: standard input */
    int32_t count;
    double bytes; /* total size of the regular files; standard input and pipes count as 0 */
};

/* Lists the files at `paths` (count), which are files or folders. If `count` is 0, the list
 * contains only standard input. */
yk_status yk_text_files_list(const char *const *paths, int32_t count, struct yk_arena *arena,
                             struct yk_text_files *out) YK_MUST_USE;

/* A callback that receives the chunks of each file in order. A chunk of 0 bytes marks the end of
 * the file. */
struct yk_text_files_chunk_consumer {
    yk_status (*consume)(void *user, const char *path, const char *text, size_t length);
    void *user;
};

/* Reads all files in chunks and passes the chunks to the consumer. `cut` says where a chunk may
 * end. `what` is the name of the activity in progress reports. Sets `*bytes` to the number of bytes
 * that were read. Fails if all files are empty. Checks between two chunks whether the job should
 * stop, and then fails with YK_ERROR_STOPPED. */
yk_status yk_text_files_read_chunks(const struct yk_text_files *files,
                                    const struct yk_chunk_boundary_rules *cut, const char *what,
                                    const struct yk_text_files_chunk_consumer *consumer,
                                    const struct yk_job_callbacks *job, int64_t *bytes) YK_MUST_USE;

/* Always fails, with YK_ERROR_STOPPED and a message that says that nothing was written. */
yk_status yk_text_files_stopped_error(void);

#endif
