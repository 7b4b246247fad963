/* Export job: the arguments of an exporter, and functions that write notes, comments, and the
 * beginning of the exported file. */
#ifndef YK_EXPORT_EXPORT_JOB_H
#define YK_EXPORT_EXPORT_JOB_H

#include "base/arena.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* The arguments of an exporter. The struct owns nothing. */
struct yk_export_job {
    const struct yk_plan *plan;
    const struct yk_model *model;
    const struct yk_cluster *cluster;
    const struct yk_plan_group *group; /* the group, if all layers are in one; otherwise NULL */
    struct yk_arena *arena;            /* destroyed after the exporter has returned */
    struct yk_text *out;               /* contents of the exported file */
    struct yk_text *notes;             /* what the file cannot express; see export.h */
};

/* Adds a sentence to the notes, as a line of its own. */
void yk_export_job_add_note(const struct yk_export_job *job, const char *format, ...)
    YK_PRINTF_LIKE(2, 3);

/* Adds a sentence to the notes if `applies` is true. */
void yk_export_job_add_note_if(const struct yk_export_job *job, bool applies, const char *format,
                               ...) YK_PRINTF_LIKE(3, 4);

/* Adds the note "LAYERS: SENTENCE". LAYERS lists the layers for which `is_one` returns true, such
 * as "layer 0 to layer 10, head". Adds nothing if `is_one` returns true for no layer. */
void yk_export_job_add_layers_note(const struct yk_export_job *job,
                                   bool (*is_one)(const struct yk_plan *plan, int32_t layer),
                                   const char *sentence);

/* Adds text in a form that is safe in a comment: control characters and invalid UTF-8 become '?'.
 */
void yk_export_job_add_comment_safe(struct yk_text *out, const char *text);

/* Adds the comment lines at the beginning of a file: all notes that were added before this call,
 * after a line such as
 * "# gpt2 on 3xa30 @ 10GB/s: 12 samples of 1024 tokens a step in bf16". */
void yk_export_job_add_header_comment(const struct yk_export_job *job);

#endif
