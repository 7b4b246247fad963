#include "cli/drawings.h"

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

yk_status yk_drawings_make(const struct yk_drawings *drawings,
                           const struct yk_schedule_report *report, struct yk_outputs *outputs)
{
    if (drawings->svg) {
        YK_TRY(make_svg(report, yk_outputs_add(outputs, drawings->svg)));
    }
    if (drawings->html) {
        YK_TRY(yk_schedule_report_page(report, yk_outputs_add(outputs, drawings->html)));
    }
    if (drawings->trace) {
        YK_TRY(make_trace(report, yk_outputs_add(outputs, drawings->trace)));
    }
    return YK_OK;
}

yk_status yk_drawings_write(const struct yk_drawings *drawings,
                            const struct yk_schedule_report *report)
{
    struct yk_outputs outputs = {0};
    yk_status status = yk_drawings_make(drawings, report, &outputs);
    if (status == YK_OK) {
        status = yk_outputs_write(&outputs);
    }
    yk_outputs_free(&outputs);
    return status;
}
