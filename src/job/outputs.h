/*
 * Outputs: the files that a job writes in addition to its result. If one fails, the others are
 * still written, and then the failure is reported. One thread at a time.
 */
#ifndef YK_JOB_OUTPUTS_H
#define YK_JOB_OUTPUTS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "report/schedule/report.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    YK_OUTPUTS_MAX = 64 /* a page, its trace and a picture for each of its charts */
};

struct yk_output_file {
    const char *path;
    struct yk_text text;
    bool own; /* the name is the program's choice: a symbolic link is not followed */
};

/* Starts as {0}. */
struct yk_outputs {
    struct yk_output_file files[YK_OUTPUTS_MAX];
    size_t count;
    bool together;     /* all are written, or none */
    size_t made_count; /* of `count`: those that yk_outputs_finish() has checked */
    yk_status status;  /* of the first failure; the sentences of all are joined */
    struct yk_text sentences;
};

/*
 * Refuses, before any work is done, a file that cannot be written because its folder is missing or
 * not writable, that is to be written twice, or that is one of the inputs: the first
 * `input_count` of `paths` are inputs, the others outputs; any may be NULL.
 */
yk_status yk_outputs_check(const char *const *paths, size_t count, size_t input_count) YK_MUST_USE;

/* The text to fill for the file at `path`: one that the user named, or (nofollow) one whose name
 * the program chose. */
struct yk_text *yk_outputs_add(struct yk_outputs *outputs, const char *path);
struct yk_text *yk_outputs_add_nofollow(struct yk_outputs *outputs, const char *path);

/* The text to fill for the file `name` of `folder`, whose path is kept in the arena. */
yk_status yk_outputs_add_in(struct yk_outputs *outputs, const char *folder, const char *name,
                            struct yk_arena *arena, struct yk_text **out) YK_MUST_USE;

/* Records whether making the texts added since the last call succeeded (`made`). If not, they are
 * dropped, and yk_outputs_write() reports the failure. */
void yk_outputs_finish(struct yk_outputs *outputs, yk_status made);

/* Writes all files, even if some fail, and frees them. Returns the first failure, with the
 * sentences of all joined. */
yk_status yk_outputs_write(struct yk_outputs *outputs) YK_MUST_USE;
void yk_outputs_free(struct yk_outputs *outputs);

/* Where each goes; NULL: not wanted. */
struct yk_output_drawings {
    const char *svg;
    const char *html;
    const char *trace;
};

/* Adds those that are wanted to `outputs`. */
void yk_outputs_add_drawings(const struct yk_output_drawings *drawings,
                             const struct yk_schedule_report *report, struct yk_outputs *outputs);

#endif
