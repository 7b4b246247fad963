#include "report/csv.h"
#include "report/plan/charts.h"

static yk_status add(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    const int32_t written = yk_time_chart_count_groups_in_csv(&sets->chart);
    yk_time_chart_add_to_page(&sets->chart, "Ops of every device and lane over time", out);
    yk_text_add(out,
                "<p class=\"note live\" hidden>Point at an op, tap it, or use the arrow "
                "keys. Ctrl and the wheel zoom (the wheel alone once the chart is clicked), so "
                "do two fingers; dragging moves. The solid line is the end of the step, the "
                "dotted one the lower bound.</p>\n");
    if (written < sets->count) {
        yk_text_addf(
            out,
            "<p class=\"note\">The ops of %d more %s are too many for this page; the trace "
            "file has them all.</p>\n",
            sets->count - written, sets->count - written == 1 ? "row" : "rows");
    }
    return YK_OK;
}

/* Only the first sets, if a page cannot hold all of them. */
static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    const int32_t count = yk_time_chart_count_groups_in_csv(&sets->chart);
    yk_text_add(out, "ranks,device,lane,op,start_s,end_s,bytes\n");
    for (int32_t f = 0; f < count; f++) {
        for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
            const struct yk_time_chart_row *row = &sets->all[f].lanes[l];
            for (int32_t i = 0; i < row->count; i++) {
                yk_csv_add_text(out, sets->all[f].numbers);
                yk_csv_add_text(out, sets->all[f].name);
                yk_csv_add_text(out, row->name);
                yk_time_chart_add_bar_csv_cells(&row->bars[i], out);
                yk_csv_end_row(out);
            }
        }
    }
    return YK_OK;
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_equal_ranks_sets *sets = subject;
    yk_time_chart_draw_svg(&sets->chart, frame);
    return YK_OK;
}

const struct yk_chart yk_plan_chart_lanes = {
    .name = "lanes",
    .title = "Where the time goes",
    .draw = draw,
    .file_width = YK_FIGURE_FULL_WIDTH,
    .add_html = add,
    .csv_name = "lanes",
    .write_csv = write_csv,
};
