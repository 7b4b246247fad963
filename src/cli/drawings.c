#include "cli/drawings.h"

#include "base/file.h"
#include "base/text.h"
#include "report/gantt_svg.h"
#include "trace/chrome.h"

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
