/*
 * Output files: the files that a job writes in addition to its result. If one file cannot be
 * written, the other files are still written, and the failure is reported afterwards. Not
 * thread-safe.
 */
#ifndef YK_JOB_OUTPUT_FILES_H
#define YK_JOB_OUTPUT_FILES_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "report/schedule/report.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_OUTPUT_FILES_MAX = 64 /* enough for a page, its trace and a picture of each chart */
};

struct yk_output_file {
    const char *path;
    struct yk_text text;
    /* The program chose the file name: if a symbolic link has this name, do not follow it. */
    bool nofollow;
};

/* Starts as {0}. */
struct yk_output_files {
    struct yk_output_file files[YK_OUTPUT_FILES_MAX];
    size_t count;
    bool together; /* if one file cannot be written, write none */
    /* Number of files at the end of the last call of yk_output_files_drop_added_on_failure(). */
    size_t recorded_count;
    yk_status status;         /* first failure */
    struct yk_text sentences; /* messages of all failures, joined by "; " */
};

/*
 * Checks output paths before any work is done. The first `input_count` elements of `paths` are
 * inputs, the other elements are outputs. Elements may be NULL. Fails if the folder of an output
 * does not exist or is not writable, if two outputs are the same file, or if an output is also an
 * input.
 */
yk_status yk_output_files_check_paths(const char *const *paths, size_t count,
                                      size_t input_count) YK_MUST_USE;

/* Adds a file and returns its text, which the caller fills. The nofollow variant never writes
 * through a symbolic link. It is meant for paths that yoke chose, not the user. */
struct yk_text *yk_output_files_add(struct yk_output_files *outputs, const char *path);
struct yk_text *yk_output_files_add_nofollow(struct yk_output_files *outputs, const char *path);

/* Adds the file `name` in `folder` in the same way as yk_output_files_add_nofollow(). The path is
 * allocated in the arena. */
yk_status yk_output_files_add_in_folder(struct yk_output_files *outputs, const char *folder,
                                        const char *name, struct yk_arena *arena,
                                        struct yk_text **out) YK_MUST_USE;

/* Must be called after the caller has filled the texts of added files. `made` says whether this has
 * succeeded. If it has failed, all files that were added since the previous call of this function
 * are removed from the list, and yk_output_files_write_and_free() reports the failure. */
void yk_output_files_drop_added_on_failure(struct yk_output_files *outputs, yk_status made);

/* Writes all files, then frees the list. Continues after a failure, unless `together` is set.
 * Returns the status of the first failure, with the messages of all failures. */
yk_status yk_output_files_write_and_free(struct yk_output_files *outputs) YK_MUST_USE;
void yk_output_files_free(struct yk_output_files *outputs);

/* Paths of the drawings of a schedule; NULL means: do not make this drawing. */
struct yk_schedule_drawing_paths {
    const char *svg;
    const char *html;
    const char *trace;
};

/* Draws the schedule once for every path that is not NULL, and adds the drawings to `outputs`. */
void yk_output_files_add_schedule_drawings(const struct yk_schedule_drawing_paths *drawings,
                                           const struct yk_schedule_report *report,
                                           struct yk_output_files *outputs);

#endif
