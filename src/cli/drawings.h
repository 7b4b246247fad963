/* Drawings: a schedule as a picture, a page and a trace, for the files a command writes. */
#ifndef YK_CLI_DRAWINGS_H
#define YK_CLI_DRAWINGS_H

#include "cli/outputs.h"
#include "report/schedule_report.h"

/* Where each goes; NULL: not wanted. */
struct yk_drawings {
    const char *svg;
    const char *html;
    const char *trace;
};

/* Adds those that are wanted to `outputs`. */
yk_status yk_drawings_make(const struct yk_drawings *drawings,
                           const struct yk_schedule_report *report,
                           struct yk_outputs *outputs) YK_MUST_USE;

/* The same, written at once. */
yk_status yk_drawings_write(const struct yk_drawings *drawings,
                            const struct yk_schedule_report *report) YK_MUST_USE;

#endif
