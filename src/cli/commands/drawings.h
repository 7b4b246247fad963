/*
 * Drawings: a schedule as a picture, a page and a trace, for the files a command writes. Commands
 * that draw have a `struct yk_drawings` among their arguments and the rows YK_DRAWINGS_OPTIONS.
 */
#ifndef YK_CLI_COMMANDS_DRAWINGS_H
#define YK_CLI_COMMANDS_DRAWINGS_H

#include "cli/options/rows.h"
#include "job/outputs.h"
#include "report/schedule_report.h"

#include <stddef.h>

/* Where each goes; NULL: not wanted. */
struct yk_drawings {
    const char *svg;
    const char *html;
    const char *trace;
};

/* Adds those that are wanted to `outputs`. */
void yk_drawings_make(const struct yk_drawings *drawings, const struct yk_schedule_report *report,
                      struct yk_outputs *outputs);

/* The same, written at once as yk_outputs_write() does. */
yk_status yk_drawings_write(const struct yk_drawings *drawings,
                            const struct yk_schedule_report *report,
                            struct yk_text *result) YK_MUST_USE;

/* Rows of an options table; `type` is the command's arguments, `field` the drawings among them: a
 * type and a member cannot stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_DRAWINGS_OPTIONS(type, field, svg_help, html_help)                                      \
    {                                                                                              \
        .name = "svg",                                                                             \
        .placeholder = "FILE",                                                                     \
        .help = svg_help,                                                                          \
        .group = YK_OUTPUT_GROUP,                                                                  \
        .kind = YK_OPTION_FILE,                                                                    \
        .offset = offsetof(type, field.svg),                                                       \
    },                                                                                             \
    {                                                                                              \
        .name = "html",                                                                            \
        .placeholder = "FILE",                                                                     \
        .help = html_help,                                                                         \
        .group = YK_OUTPUT_GROUP,                                                                  \
        .kind = YK_OPTION_FILE,                                                                    \
        .offset = offsetof(type, field.html),                                                      \
    },                                                                                             \
    {                                                                                              \
        .name = "trace",                                                                           \
        .placeholder = "FILE",                                                                     \
        .help = "Also write a trace that Perfetto and chrome://tracing open",                      \
        .group = YK_OUTPUT_GROUP,                                                                  \
        .kind = YK_OPTION_FILE,                                                                    \
        .offset = offsetof(type, field.trace),                                                     \
    }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
