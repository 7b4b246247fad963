/*
 * Drawings: the files a command writes beside its printed result.
 *
 * All are made before the first is written, so that a failure to make one leaves no file behind.
 */
#ifndef YK_CLI_DRAWINGS_H
#define YK_CLI_DRAWINGS_H

#include "base/status.h"
#include "report/schedule_report.h"

/* Where each goes; NULL: not wanted. */
struct yk_drawings {
    const char *svg;
    const char *html;
    const char *trace;
};

/* Refuses a file that is to be written twice, or that is `input` (NULL: none) itself. */
yk_status yk_drawings_check(const struct yk_drawings *drawings, const char *input) YK_MUST_USE;

yk_status yk_drawings_write(const struct yk_drawings *drawings,
                            const struct yk_schedule_report *report) YK_MUST_USE;

#endif
