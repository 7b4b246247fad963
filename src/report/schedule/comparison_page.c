#include "report/schedule/comparison_page.h"

#include "report/page.h"
#include "report/schedule/gantt.h"

#include <math.h>

static void add_row(const struct yk_schedule_comparison_page *page, int32_t number,
                    struct yk_text *out)
{
    const struct yk_schedule_comparison_page_row *row = &page->rows[number];
    yk_text_add(out, number == page->winner ? "<tr class=\"winner\">" : "<tr>");
    yk_page_add_escaped_text_between("<th scope=\"row\">", row->name, "</th>", out);
    for (int32_t c = 0; c < page->column_count; c++) {
        yk_page_add_cell(row->cells[c], out);
    }
    yk_page_add_escaped_text_between("<td class=\"remark\">", row->remark ? row->remark : "",
                                     "</td></tr>\n", out);
}

static void add_table(const struct yk_schedule_comparison_page *page, struct yk_text *out)
{
    yk_page_begin_section("Side by side", out);
    yk_text_add(out, "<div class=\"wide\"><table>\n<thead><tr><th></th>");
    for (int32_t c = 0; c < page->column_count; c++) {
        yk_page_add_escaped_text_between("<th>", page->columns[c], "</th>", out);
    }
    yk_text_add(out, "<th></th></tr></thead>\n<tbody>\n");
    for (int32_t i = 0; i < page->row_count; i++) {
        add_row(page, i, out);
    }
    yk_text_add(out, "</tbody></table></div>\n");
    for (int32_t i = 0; i < page->note_count; i++) {
        yk_page_add_escaped_text_between("<p class=\"note\">", page->notes[i], "</p>\n", out);
    }
    yk_page_end_section(out);
}

/* All charts have the scale of the longest, so that lengths can be compared. */
static double longest(const struct yk_schedule_comparison_page *page)
{
    double span = 0;
    for (int32_t i = 0; i < page->row_count; i++) {
        const struct yk_schedule *schedule = page->rows[i].schedule;
        if (schedule) {
            span = fmax(span, yk_graph_ticks_to_time(schedule->graph, schedule->makespan));
        }
    }
    return span;
}

static yk_status add_chart(const struct yk_schedule_comparison_page_row *row, double span,
                           struct yk_arena *arena, struct yk_text *out)
{
    struct yk_time_chart chart;
    const struct yk_gantt_time_chart_options options = {
        .title = "Tasks of every device over time",
        .lower_bound = row->lower_bound,
        .span = span,
        .kinds = row->kinds,
    };
    YK_TRY(yk_gantt_make_time_chart(row->schedule, &options, arena, &chart));
    yk_page_begin_section(row->name, out);
    yk_text_add(out, "<div class=\"chart\">\n");
    yk_time_chart_draw_svg(&chart, yk_page_make_figure(YK_FIGURE_FULL_WIDTH, out));
    yk_text_add(out, "</div>\n");
    yk_page_end_section(out);
    return YK_OK;
}

yk_status yk_schedule_comparison_page_write(const struct yk_schedule_comparison_page *page,
                                            struct yk_text *out)
{
    static const char *const none[] = {NULL};
    yk_page_begin(page->title, page->lead, none, out);
    add_table(page, out);
    for (int32_t i = 0; i < page->row_count; i++) {
        if (page->rows[i].schedule) {
            YK_TRY_WITH_TEMPORARY_ARENA(arena,
                                        add_chart(&page->rows[i], longest(page), arena, out));
        }
    }
    yk_page_end(none, out);
    return yk_text_status(out);
}
