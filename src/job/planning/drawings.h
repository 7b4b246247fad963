/* Drawings: a schedule as a picture, a page and a trace, among the files that a job writes. */
#ifndef YK_JOB_PLANNING_DRAWINGS_H
#define YK_JOB_PLANNING_DRAWINGS_H

#include "job/outputs.h"
#include "report/schedule_report.h"

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
