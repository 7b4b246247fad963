#include "report/page.h"
#include "base/json_write.h"
#include "base/units.h"
#include "report/label.h"
#include "report/schedule/gantt.h"
#include "report/schedule/report.h"
#include "report/web_files.h"
#include "sched/schedule.h"

#include <stdio.h>

enum {
    MAX_TASKS = 5000, /* of which a page says what each waits for */
    MAX_EDGES = 50000,
    MAX_BARS = 12000,
};

/* Whether the graph is small enough for the page to hold what every task waits for. */
static bool is_detailed(const struct yk_graph *graph)
{
    return graph->task_count <= MAX_TASKS && graph->edge_count <= MAX_EDGES;
}

static void add_device_names(const struct yk_graph *graph, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 0);
    yk_json_write_begin_array(json, "devices");
    for (int32_t p = 0; p < graph->device_count; p++) {
        yk_json_write_string(json, NULL, graph->devices[p].name);
    }
    yk_json_write_end_array(json);
}

static void add_bar(const struct yk_time_chart_merged_bar *bar, int32_t device, bool detailed,
                    struct yk_json_writer *json)
{
    char merged[YK_NUMBER_BUFFER_SIZE + sizeof " tasks"];
    yk_json_write_begin_array(json, NULL);
    yk_json_write_integer(json, NULL, device);
    yk_json_write_number(json, NULL, bar->start);
    yk_json_write_number(json, NULL, bar->end);
    yk_json_write_integer(json, NULL, bar->count == 1 ? bar->first->number : -1);
    yk_json_write_integer(json, NULL, bar->first->kind);
    if (bar->count > 1) {
        snprintf(merged, sizeof merged, "%s tasks", YK_LABEL_COUNT(bar->count));
        yk_json_write_string(json, NULL, merged);
        yk_json_write_number(json, NULL,
                             bar->end > bar->start ? bar->busy / (bar->end - bar->start) : 0);
    } else if (!detailed) {
        yk_json_write_string(json, NULL, bar->first->label);
    }
    yk_json_write_end_array(json);
}

static void add_bars(const struct yk_time_chart *chart, bool detailed, struct yk_json_writer *json)
{
    const struct yk_time_chart_merge_rule merge =
        yk_time_chart_choose_merge_rule(chart, 0, 4, MAX_BARS);
    yk_json_write_newline(json, 0);
    yk_json_write_begin_array(json, "bars");
    for (int32_t p = 0; p < chart->groups[0].row_count; p++) {
        const struct yk_time_chart_row *row = &chart->groups[0].rows[p];
        for (int32_t at = 0; at < row->count;) {
            const struct yk_time_chart_merged_bar bar =
                yk_time_chart_next_merged_bar(row, &merge, &at);
            add_bar(&bar, p, detailed, json);
        }
    }
    yk_json_write_end_array(json);
}

/* Each as the task it is from, when it is there, and how long it was under way. */
static void add_inputs(const struct yk_schedule *schedule, int32_t task,
                       struct yk_json_writer *json)
{
    const struct yk_graph *graph = schedule->graph;
    yk_json_write_begin_array(json, "inputs");
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        const int64_t delay = yk_graph_edge_delay_ticks(graph, edge, schedule->devices[edge->from],
                                                        schedule->devices[task]);
        yk_json_write_begin_array(json, NULL);
        yk_json_write_integer(json, NULL, edge->from);
        yk_json_write_number(json, NULL,
                             yk_graph_ticks_to_time(graph, schedule->finishes[edge->from] + delay));
        yk_json_write_number(json, NULL, yk_graph_ticks_to_time(graph, delay));
        yk_json_write_end_array(json);
    }
    yk_json_write_end_array(json);
}

static void add_task(const struct yk_schedule *schedule, int32_t task,
                     const struct yk_task_wait *wait, struct yk_json_writer *json)
{
    struct yk_text why = {0};
    yk_schedule_describe_task_wait(schedule, task, wait, &why);
    yk_json_write_begin_object_on_new_line(json, 0);
    yk_json_write_string(json, "name", schedule->graph->tasks[task].name);
    yk_json_write_string(json, "why", yk_text_chars(&why));
    yk_json_write_integer(json, "after", wait->task);
    add_inputs(schedule, task, json);
    yk_json_write_end_object(json);
    json->text->failed |= why.failed;
    yk_text_free(&why);
}

static yk_status add_tasks(struct yk_schedule *schedule, struct yk_arena *arena,
                           struct yk_json_writer *json)
{
    struct yk_task_wait *waits = NULL;
    YK_TRY_NEW(arena, waits, schedule->graph->task_count);
    YK_TRY(yk_task_wait_find_reasons(schedule, waits));
    yk_json_write_newline(json, 0);
    yk_json_write_begin_array(json, "tasks");
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        add_task(schedule, i, &waits[i], json);
    }
    yk_json_write_end_array(json);
    return YK_OK;
}

/*
 * What web/schedule.js knows, as JSON:
 *
 *   {"devices": ["P1", …],
 *    "bars":  [[device, start, end, task, colour, label, share], …]
 *    "tasks": [{"name", "why", "after", "inputs": [[task, arrival, cost], …]}, …]}
 *
 * A bar of several tasks has task -1, a label, and the share of it in which they run. "after" is
 * the task whose end or data a task waits for, or -1. "tasks" is left out of large graphs; then
 * every bar has a label.
 */
static yk_status add_data(struct yk_schedule *schedule, const struct yk_time_chart *chart,
                          struct yk_arena *arena, struct yk_text *out)
{
    const bool detailed = is_detailed(schedule->graph);
    struct yk_json_writer json = {.text = out};
    yk_text_add(out, "<script type=\"application/json\" id=\"schedule\">");
    yk_json_write_begin_object_on_new_line(&json, 0);
    add_device_names(schedule->graph, &json);
    add_bars(chart, detailed, &json);
    if (detailed) {
        YK_TRY(add_tasks(schedule, arena, &json));
    }
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n</script>\n");
    return YK_OK;
}

static void add_head(const struct yk_schedule_report *report, struct yk_text *out)
{
    static const char *const styles[] = {yk_web_charts_css, yk_web_schedule_css, NULL};
    struct yk_text lead = {0};
    yk_schedule_describe_graph_size(report->schedule->graph, &lead);
    yk_text_add(&lead, ": ");
    yk_schedule_describe_makespan_gap(report, &lead);
    out->failed |= lead.failed;
    yk_page_begin(report->source, yk_text_chars(&lead), styles, out);
    yk_text_free(&lead);
}

static void add_figures(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_schedule *schedule = report->schedule;
    const int64_t bound = report->lower_bound;
    yk_page_begin_headline_numbers(out);
    yk_page_add_headline_number("algorithm", report->algorithm, out);
    yk_page_add_headline_number("makespan",
                                YK_LABEL_GRAPH_TIME(schedule->graph, schedule->makespan), out);
    yk_page_add_headline_number(
        "lower bound", bound > 0 ? YK_LABEL_GRAPH_TIME(schedule->graph, bound) : "none", out);
    yk_page_add_headline_number(
        "gap",
        bound > 0 ? YK_LABEL_PERCENT((double)(schedule->makespan - bound), (double)bound)
                  : "unknown",
        out);
    yk_page_end_headline_numbers(out);
}

static yk_status add_chart(const struct yk_schedule_report *report, struct yk_arena *arena,
                           struct yk_text *out)
{
    struct yk_schedule *schedule = report->schedule;
    struct yk_time_chart chart;
    const struct yk_gantt_time_chart_options options = {
        .title = "Tasks of every device over time",
        .lower_bound = report->lower_bound,
        .kinds = report->kinds,
    };
    YK_TRY(yk_gantt_make_time_chart(schedule, &options, arena, &chart));
    yk_page_begin_section("Who runs what, and when", out);
    if (!is_detailed(schedule->graph)) {
        yk_text_add(out, "<p class=\"note\">This graph is large: neighbours too short to be drawn "
                         "share a bar, and what each task waits for is left out of the page. The "
                         "JSON of this schedule has every task.</p>\n");
    }
    yk_time_chart_add_to_page(&chart, options.title, out);
    yk_text_add(out, "<div id=\"details\" aria-live=\"polite\"></div>\n");
    yk_page_end_section(out);
    return add_data(schedule, &chart, arena, out);
}

static void add_device(const struct yk_schedule *schedule, int32_t device,
                       const struct yk_schedule_device_stats *stats, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    const int64_t limit_bytes = graph->devices[device].memory_bytes;
    const char *share = YK_LABEL_PERCENT((double)stats->busy, (double)schedule->makespan);
    yk_page_begin_named_row(graph->devices[device].name, out);
    yk_page_add_cell(YK_LABEL_COUNT(stats->tasks), out);
    yk_page_add_cell(YK_LABEL_GRAPH_TIME(graph, stats->busy), out);
    yk_text_addf(out, "<td><span class=\"meter\" style=\"--part:%s\"></span>%s</td>", share, share);
    yk_page_add_cell(YK_LABEL_GRAPH_TIME(graph, schedule->makespan - stats->busy), out);
    if (graph->limited) {
        yk_page_add_cell(YK_UNITS_FORMAT_TEMPORARY((double)stats->peak_bytes, YK_UNIT_BYTES), out);
        yk_page_add_cell(limit_bytes == YK_GRAPH_UNLIMITED_MEMORY
                             ? "none"
                             : YK_UNITS_FORMAT_TEMPORARY((double)limit_bytes, YK_UNIT_BYTES),
                         out);
    }
    yk_text_add(out, "</tr>\n");
}

static yk_status add_devices(const struct yk_schedule *schedule, struct yk_arena *arena,
                             struct yk_text *out)
{
    struct yk_schedule_device_stats *stats = NULL;
    YK_TRY(yk_schedule_report_compute_device_stats(schedule, arena, &stats));
    yk_page_begin_section("Devices", out);
    yk_text_add(out, "<div class=\"wide\"><table>\n<thead><tr><th>device</th><th>tasks</th>"
                     "<th>busy</th><th>share</th><th>idle</th>");
    yk_text_add(out, schedule->graph->limited ? "<th>peak memory</th><th>limit</th>" : "");
    yk_text_add(out, "</tr></thead>\n<tbody>\n");
    for (int32_t p = 0; p < schedule->graph->device_count; p++) {
        add_device(schedule, p, &stats[p], out);
    }
    yk_text_add(out, "</tbody>\n</table></div>\n");
    yk_page_end_section(out);
    return YK_OK;
}

static yk_status write_page(const struct yk_schedule_report *report, struct yk_arena *arena,
                            struct yk_text *out)
{
    static const char *const scripts[] = {yk_web_numbers_js, yk_web_figures_js,
                                          yk_web_time_chart_js, yk_web_schedule_js, NULL};
    add_head(report, out);
    add_figures(report, out);
    YK_TRY(add_chart(report, arena, out));
    YK_TRY(add_devices(report->schedule, arena, out));
    yk_page_end(scripts, out);
    return yk_text_status(out);
}

yk_status yk_schedule_page_write(const struct yk_schedule_report *report, struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_page(report, arena, out));
    return YK_OK;
}
