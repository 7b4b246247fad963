#include "cli/drawings.h"

yk_status yk_drawings_make(const struct yk_drawings *drawings,
                           const struct yk_schedule_report *report, struct yk_outputs *outputs)
{
    if (drawings->svg) {
        YK_TRY(yk_schedule_report_svg(report, yk_outputs_add(outputs, drawings->svg)));
    }
    if (drawings->html) {
        YK_TRY(yk_schedule_report_page(report, yk_outputs_add(outputs, drawings->html)));
    }
    if (drawings->trace) {
        YK_TRY(yk_schedule_report_chrome(report, yk_outputs_add(outputs, drawings->trace)));
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
