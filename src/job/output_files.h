/*
 * Output files: the files that a job writes in addition to its result. If one file fails, the
 * others are still written, and the failure is reported afterwards. Not thread-safe.
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
    YK_OUTPUT_FILES_MAX = 64 /* a page, its trace and a picture for each of its charts */
};

struct yk_output_file {
    const char *path;
    struct yk_text text;
    bool nofollow; /* yoke chose the file name: a symbolic link of that name is not followed */
};

/* Starts as {0}. */
struct yk_output_files {
    struct yk_output_file files[YK_OUTPUT_FILES_MAX];
    size_t count;
    bool together;            /* write all files or none */
    size_t recorded_count;    /* files whose texts yk_output_files_record() has accepted */
    yk_status status;         /* first failure */
    struct yk_text sentences; /* messages of all failures, joined by "; " */
};

/*
 * Checks output paths before any work is done. The first `input_count` of `paths` are inputs, the
 * others are outputs; entries may be NULL. Fails if the folder of an output is missing or not
 * writable, if two outputs are the same file, or if an output is also an input.
 */
yk_status yk_output_files_check_paths(const char *const *paths, size_t count,
                                      size_t input_count) YK_MUST_USE;

/* Adds a file and returns its text, which the caller fills. Use the nofollow variant for a path
 * that yoke chose rather than the user: it does not write through a symbolic link. */
struct yk_text *yk_output_files_add(struct yk_output_files *outputs, const char *path);
struct yk_text *yk_output_files_add_nofollow(struct yk_output_files *outputs, const char *path);

/* The nofollow variant for the file `name` in `folder`. The path is allocated in the arena. */
yk_status yk_output_files_add_in_folder(struct yk_output_files *outputs, const char *folder,
                                        const char *name, struct yk_arena *arena,
                                        struct yk_text **out) YK_MUST_USE;

/* Records whether the texts added since the last call could be produced. If `made` is a failure,
 * these files are dropped and yk_output_files_write() reports it. */
void yk_output_files_record(struct yk_output_files *outputs, yk_status made);

/* Writes all files, even if some fail, and frees them. Returns the status of the first failure,
 * with the messages of all failures. */
yk_status yk_output_files_write(struct yk_output_files *outputs) YK_MUST_USE;
void yk_output_files_free(struct yk_output_files *outputs);

/* Paths of the drawings of a schedule; NULL means: do not draw this one. */
struct yk_output_drawing_paths {
    const char *svg;
    const char *html;
    const char *trace;
};

/* Draws the schedule into every file that has a path. */
void yk_output_files_add_drawings(const struct yk_output_drawing_paths *drawings,
                                  const struct yk_schedule_report *report,
                                  struct yk_output_files *outputs);

#endif
