#include "job/planning/drawings.h"

typedef yk_status (*drawer)(const struct yk_schedule_report *report, struct yk_text *out);

static void draw(const char *path, drawer write, const struct yk_schedule_report *report,
                 struct yk_outputs *outputs)
{
    if (path) {
        yk_outputs_finish(outputs, write(report, yk_outputs_add(outputs, path)));
    }
}

void yk_outputs_add_drawings(const struct yk_output_drawings *drawings,
                             const struct yk_schedule_report *report, struct yk_outputs *outputs)
{
    draw(drawings->svg, yk_schedule_report_svg, report, outputs);
    draw(drawings->html, yk_schedule_report_page, report, outputs);
    draw(drawings->trace, yk_schedule_report_chrome, report, outputs);
}
