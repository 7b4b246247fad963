#include "cli/drawings.h"

#include "base/file.h"
#include "base/text.h"
#include "report/gantt_svg.h"
#include "trace/chrome.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SVG_WIDTH = 1200
};

static yk_status make_svg(const struct yk_schedule_report *report, struct yk_text *out)
{
    struct yk_text title = {0};
    yk_text_addf(&title, "%s, scheduled by %s", report->source, report->algorithm);
    const struct yk_gantt_svg_options options = {
        .title = yk_text_chars(&title),
        .lower_bound = report->lower_bound,
        .width = SVG_WIDTH,
        .kinds = report->kinds,
    };
    const yk_status status = yk_gantt_svg_write(report->schedule, &options, out);
    yk_text_free(&title);
    return status;
}

static yk_status make_trace(const struct yk_schedule_report *report, struct yk_text *out)
{
    struct yk_trace *trace = NULL;
    YK_TRY(yk_schedule_report_trace(report, &trace));
    const yk_status status = yk_trace_write_chrome(trace, out);
    yk_trace_destroy(trace);
    return status;
}

/* Whether two paths name one plain file; a terminal or /dev/null may well be named twice. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first;
    struct stat second;
    const bool first_exists = stat(a, &first) == 0;
    const bool second_exists = stat(b, &second) == 0;
    if (first_exists && second_exists) {
        return S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
    }
    return first_exists == second_exists && strcmp(a, b) == 0;
}

yk_status yk_drawings_check(const struct yk_drawings *drawings, const char *input)
{
    const char *const paths[] = {input, drawings->svg, drawings->html, drawings->trace};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        for (size_t j = 0; j < i; j++) {
            if (paths[i] && paths[j] && is_same_file(paths[i], paths[j])) {
                return yk_fail(YK_ERROR_USAGE, "%s would overwrite %s; give it another name",
                               paths[i], j == 0 ? "the graph itself" : "another output");
            }
        }
    }
    return YK_OK;
}

yk_status yk_drawings_write(const struct yk_drawings *drawings,
                            const struct yk_schedule_report *report)
{
    struct {
        const char *path;
        yk_status (*make)(const struct yk_schedule_report *report, struct yk_text *out);
        struct yk_text text;
    } files[] = {
        {drawings->svg, make_svg, {0}},
        {drawings->html, yk_schedule_report_page, {0}},
        {drawings->trace, make_trace, {0}},
    };
    enum {
        COUNT = sizeof files / sizeof files[0]
    };
    yk_status status = YK_OK;
    for (size_t i = 0; i < COUNT && status == YK_OK; i++) {
        status = files[i].path ? files[i].make(report, &files[i].text) : YK_OK;
    }
    for (size_t i = 0; i < COUNT && status == YK_OK; i++) {
        status = files[i].path ? yk_file_write(files[i].path, &files[i].text) : YK_OK;
    }
    for (size_t i = 0; i < COUNT; i++) {
        yk_text_free(&files[i].text);
    }
    return status;
}
