#include "base/arena.h"
#include "base/units.h"
#include "report/device_figures.h"
#include "report/gantt_svg.h"
#include "report/label.h"
#include "report/page.h"
#include "report/schedule_data.h"
#include "report/schedule_report.h"
#include "report/schedule_script.h"
#include "report/schedule_words.h"
#include "report/timeline_script.h"

enum {
    CHART_WIDTH = 1180
};

static void add_head(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_graph *graph = report->schedule->graph;
    struct yk_text lead = {0};
    char tasks[YK_NUMBER_SIZE];
    yk_label_count(graph->task_count, tasks);
    yk_text_addf(&lead, "%s %s on %d %s: ", tasks, graph->task_count == 1 ? "task" : "tasks",
                 graph->device_count, graph->device_count == 1 ? "device" : "devices");
    yk_schedule_words_gap(report, &lead);
    out->failed |= lead.failed;
    yk_page_begin(report->source, yk_text_chars(&lead), yk_schedule_style, out);
    yk_text_free(&lead);
}

static void add_figures(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_schedule *schedule = report->schedule;
    const int64_t bound = report->lower_bound;
    char words[YK_NUMBER_SIZE];
    yk_page_begin_figures(out);
    yk_page_add_figure("algorithm", report->algorithm, out);
    yk_label_time(schedule->graph, schedule->makespan, words);
    yk_page_add_figure("makespan", words, out);
    yk_label_time(schedule->graph, bound, words);
    yk_page_add_figure("lower bound", bound > 0 ? words : "none", out);
    yk_label_percent((double)(schedule->makespan - bound), (double)bound, words);
    yk_page_add_figure("gap", bound > 0 ? words : "unknown", out);
    yk_page_end_figures(out);
}

static yk_status add_chart(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_graph *graph = report->schedule->graph;
    const struct yk_gantt_svg_options options = {
        .lower_bound = report->lower_bound,
        .width = CHART_WIDTH,
        .apart = true,
    };
    yk_page_begin_section("Who runs what, and when", out);
    yk_text_add(out, yk_schedule_controls);
    if (!yk_schedule_data_is_detailed(graph)) {
        yk_text_add(out, "<p class=\"note\">This graph is large: neighbours too short to be drawn "
                         "share a bar, and what each task waits for is left out of the page. The "
                         "JSON of this schedule has every task.</p>\n");
    }
    yk_text_add(out, "<div class=\"chart\">\n");
    YK_TRY(yk_gantt_svg_write(report->schedule, &options, out));
    yk_text_add(out, "</div>\n");
    yk_text_add(out, "<div id=\"details\" aria-live=\"polite\"></div>\n");
    yk_page_end_section(out);
    yk_text_add(out, "<script type=\"application/json\" id=\"schedule\">");
    YK_TRY(yk_schedule_data_write(report, &options, out));
    yk_text_add(out, "</script>\n");
    return YK_OK;
}

static void add_memory(const struct yk_device_figures *figures, int64_t limit_bytes,
                       struct yk_text *out)
{
    char words[YK_UNITS_SIZE];
    yk_units_format((double)figures->peak_bytes, YK_UNIT_BYTES, words);
    yk_page_add_cell(words, out);
    yk_units_format((double)limit_bytes, YK_UNIT_BYTES, words);
    yk_page_add_cell(limit_bytes == YK_GRAPH_UNLIMITED ? "none" : words, out);
}

static void add_device(const struct yk_schedule *schedule, int32_t device,
                       const struct yk_device_figures *figures, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    char words[YK_NUMBER_SIZE];
    yk_text_add(out, "<tr><th scope=\"row\">");
    yk_text_add_xml(out, graph->devices[device].name);
    yk_text_add(out, "</th>");
    yk_label_count(figures->tasks, words);
    yk_page_add_cell(words, out);
    yk_label_time(graph, figures->busy, words);
    yk_page_add_cell(words, out);
    yk_label_percent((double)figures->busy, (double)schedule->makespan, words);
    yk_text_addf(out, "<td><span class=\"meter\" style=\"--part:%s\"></span>%s</td>", words, words);
    yk_label_time(graph, schedule->makespan - figures->busy, words);
    yk_page_add_cell(words, out);
    if (graph->limited) {
        add_memory(figures, graph->devices[device].memory_bytes, out);
    }
    yk_text_add(out, "</tr>\n");
}

static yk_status add_devices(const struct yk_schedule *schedule, struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    struct yk_device_figures *figures = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = yk_device_figures_count(schedule, arena, &figures);
    if (status == YK_OK) {
        yk_page_begin_section("Devices", out);
        yk_text_add(out, "<div class=\"wide\"><table>\n<thead><tr><th>device</th><th>tasks</th>"
                         "<th>busy</th><th>share</th><th>idle</th>");
        yk_text_add(out, schedule->graph->limited ? "<th>peak memory</th><th>limit</th>" : "");
        yk_text_add(out, "</tr></thead>\n<tbody>\n");
        for (int32_t p = 0; p < schedule->graph->device_count; p++) {
            add_device(schedule, p, &figures[p], out);
        }
        yk_text_add(out, "</tbody>\n</table></div>\n");
        yk_page_end_section(out);
    }
    yk_arena_destroy(arena);
    return status;
}

yk_status yk_schedule_report_page(const struct yk_schedule_report *report, struct yk_text *out)
{
    static const char *const scripts[] = {
        yk_schedule_script_view,
        yk_timeline_script_view,
        yk_schedule_script_draw,
        yk_schedule_script_details,
        yk_timeline_script_gestures,
        yk_schedule_script_input,
        NULL,
    };
    add_head(report, out);
    add_figures(report, out);
    YK_TRY(add_chart(report, out));
    YK_TRY(add_devices(report->schedule, out));
    yk_page_end(scripts, out);
    return yk_text_status(out);
}
