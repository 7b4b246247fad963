#include "cli/commands/drawings.h"

#include "cli/terminal.h"

void yk_drawings_make(const struct yk_drawings *drawings, const struct yk_schedule_report *report,
                      struct yk_outputs *outputs)
{
    if (drawings->svg) {
        yk_outputs_made(outputs,
                        yk_schedule_report_svg(report, yk_outputs_add(outputs, drawings->svg)));
    }
    if (drawings->html) {
        yk_outputs_made(outputs,
                        yk_schedule_report_page(report, yk_outputs_add(outputs, drawings->html)));
    }
    if (drawings->trace) {
        yk_outputs_made(
            outputs, yk_schedule_report_chrome(report, yk_outputs_add(outputs, drawings->trace)));
    }
}

yk_status yk_drawings_write(const struct yk_drawings *drawings,
                            const struct yk_schedule_report *report, struct yk_text *result)
{
    struct yk_outputs outputs = {0};
    yk_drawings_make(drawings, report, &outputs);
    return yk_terminal_print_despite(yk_outputs_write(&outputs), result);
}
