/* A schedule as the files that others draw with. */
#include "report/gantt_svg.h"
#include "report/schedule_report.h"
#include "trace/chrome.h"

enum {
    SVG_WIDTH = 1200
};

yk_status yk_schedule_report_svg(const struct yk_schedule_report *report, struct yk_text *out)
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

yk_status yk_schedule_report_chrome(const struct yk_schedule_report *report, struct yk_text *out)
{
    struct yk_trace *trace = NULL;
    YK_TRY(yk_schedule_report_trace(report, &trace));
    const yk_status status = yk_chrome_write(trace, out);
    yk_trace_destroy(trace);
    return status;
}
