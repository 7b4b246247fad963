#include "report/schedule/report.h"

#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "report/label.h"
#include "report/schedule/gantt.h"
#include "trace/trace.h"

enum {
    SVG_WIDTH = 1200
};

/* ---- text ---- */

yk_status yk_schedule_report_compute_device_stats(const struct yk_schedule *schedule,
                                                  struct yk_arena *arena,
                                                  struct yk_schedule_device_stats **out)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_schedule_device_stats *stats = NULL;
    YK_TRY_NEW(arena, stats, graph->device_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        struct yk_schedule_device_stats *device = &stats[schedule->devices[i]];
        device->tasks++;
        device->busy += schedule->finishes[i] - schedule->starts[i];
    }
    if (graph->limited) {
        int64_t *peaks = NULL;
        YK_TRY_NEW(arena, peaks, graph->device_count);
        YK_TRY(yk_schedule_compute_memory_peaks(schedule, peaks));
        for (int32_t p = 0; p < graph->device_count; p++) {
            stats[p].peak_bytes = peaks[p];
        }
    }
    *out = stats;
    return YK_OK;
}

static void add_headline(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_graph *graph = report->schedule->graph;
    yk_text_addf(out, "%s, scheduled by %s: ", report->source, report->algorithm);
    yk_schedule_describe_graph_size(graph, out);
    yk_text_addf(out, "\nmakespan %s", YK_LABEL_GRAPH_TIME(graph, report->schedule->makespan));
    if (report->lower_bound > 0) {
        yk_text_addf(out, ", lower bound %s", YK_LABEL_GRAPH_TIME(graph, report->lower_bound));
    }
    yk_text_add(out, ": ");
    yk_schedule_describe_makespan_gap(report, out);
    yk_text_add(out, "\n\n");
}

static void add_device(struct yk_text_table *table, const struct yk_schedule *schedule,
                       int32_t device, const struct yk_schedule_device_stats *stats)
{
    const struct yk_graph *graph = schedule->graph;
    const int64_t limit_bytes = graph->devices[device].memory_bytes;
    yk_text_table_add_cell(table, "%s", graph->devices[device].name);
    yk_text_table_add_cell(table, "%s", YK_LABEL_COUNT(stats->tasks));
    yk_text_table_add_cell(table, "%s", YK_LABEL_GRAPH_TIME(graph, stats->busy));
    yk_text_table_add_cell(table, "%s",
                           YK_LABEL_PERCENT((double)stats->busy, (double)schedule->makespan));
    yk_text_table_add_cell(table, "%s",
                           YK_LABEL_GRAPH_TIME(graph, schedule->makespan - stats->busy));
    if (graph->limited) {
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY((double)stats->peak_bytes, YK_UNIT_BYTES));
        yk_text_table_add_cell(table, "%s",
                               limit_bytes == YK_GRAPH_UNLIMITED_MEMORY
                                   ? "none"
                                   : YK_UNITS_FORMAT_TEMPORARY((double)limit_bytes, YK_UNIT_BYTES));
    }
}

static yk_status write_summary(const struct yk_schedule_report *report, struct yk_arena *arena,
                               struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"device", YK_TEXT_TABLE_LEFT}, {"tasks", YK_TEXT_TABLE_RIGHT},
        {"busy", YK_TEXT_TABLE_RIGHT},  {"share", YK_TEXT_TABLE_RIGHT},
        {"idle", YK_TEXT_TABLE_RIGHT},  {"peak memory", YK_TEXT_TABLE_RIGHT},
        {"limit", YK_TEXT_TABLE_RIGHT},
    };
    enum {
        WITH_MEMORY = sizeof columns / sizeof *columns,
        NO_MEMORY = WITH_MEMORY - 2
    };
    const struct yk_graph *graph = report->schedule->graph;
    struct yk_schedule_device_stats *stats = NULL;
    struct yk_text_table *table = NULL;
    YK_TRY(yk_schedule_report_compute_device_stats(report->schedule, arena, &stats));
    add_headline(report, out);
    YK_TRY(yk_text_table_create(columns, graph->limited ? WITH_MEMORY : NO_MEMORY, &table));
    for (int32_t p = 0; p < graph->device_count; p++) {
        add_device(table, report->schedule, p, &stats[p]);
    }
    return yk_text_table_write_and_destroy(table, out);
}

yk_status yk_schedule_report_write_summary(const struct yk_schedule_report *report,
                                           struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_summary(report, arena, out));
    return YK_OK;
}

/* ---- JSON ---- */

static void add_json_task(const struct yk_schedule *schedule, int32_t task,
                          struct yk_json_writer *json)
{
    const struct yk_graph *graph = schedule->graph;
    yk_json_write_begin_object(json, NULL);
    yk_json_write_string(json, "name", graph->tasks[task].name);
    yk_json_write_string(json, "device", graph->devices[schedule->devices[task]].name);
    yk_json_write_number(json, "start", yk_graph_ticks_to_time(graph, schedule->starts[task]));
    yk_json_write_number(json, "finish", yk_graph_ticks_to_time(graph, schedule->finishes[task]));
    yk_json_write_end_object(json);
}

yk_status yk_schedule_report_write_json(const struct yk_schedule_report *report,
                                        struct yk_text *out)
{
    const struct yk_schedule *schedule = report->schedule;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "algorithm", report->algorithm);
    yk_json_write_number(&json, "makespan",
                         yk_graph_ticks_to_time(schedule->graph, schedule->makespan));
    yk_json_write_number(&json, "lower_bound",
                         yk_graph_ticks_to_time(schedule->graph, report->lower_bound));
    yk_json_write_begin_array(&json, "tasks");
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        add_json_task(schedule, i, &json);
    }
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

/* ---- trace ---- */

/* One unit of the graph's time is one second of the trace. */
static yk_status add_tasks(const struct yk_schedule *schedule, struct yk_trace *trace,
                           int32_t *events)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t i = 0; i < graph->task_count; i++) {
        const struct yk_trace_event event = {
            .rank = schedule->devices[i],
            .lane = YK_LANE_COMPUTE,
            .op = graph->tasks[i].name,
            .start_s = yk_graph_ticks_to_time(graph, schedule->starts[i]),
            .end_s = yk_graph_ticks_to_time(graph, schedule->finishes[i]),
        };
        YK_TRY(yk_trace_add_event(trace, &event, &events[i]));
    }
    return YK_OK;
}

/* Transfers of this model do not wait for each other, so no lane could hold them: each is a flow.
 */
static yk_status add_transfers(const struct yk_schedule *schedule, struct yk_trace *trace,
                               const int32_t *events)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        if (schedule->devices[edge->from] != schedule->devices[edge->to]) {
            const struct yk_trace_flow flow = {events[edge->from], events[edge->to]};
            YK_TRY(yk_trace_add_flow(trace, flow));
        }
    }
    return YK_OK;
}

static yk_status fill_trace(const struct yk_schedule *schedule, struct yk_arena *arena,
                            struct yk_trace *trace)
{
    const struct yk_graph *graph = schedule->graph;
    int32_t *events = NULL;
    YK_TRY_NEW(arena, events, graph->task_count);
    for (int32_t p = 0; p < graph->device_count; p++) {
        YK_TRY(yk_trace_add_rank(trace, graph->devices[p].name));
    }
    YK_TRY(add_tasks(schedule, trace, events));
    return add_transfers(schedule, trace, events);
}

yk_status yk_schedule_report_make_trace(const struct yk_schedule_report *report,
                                        struct yk_trace **out)
{
    struct yk_arena *arena = NULL;
    struct yk_trace *trace = NULL;
    yk_status status = yk_arena_create(&arena);
    YK_IF_OK(yk_trace_create(&trace));
    YK_IF_OK(fill_trace(report->schedule, arena, trace));
    yk_arena_destroy(arena);
    YK_TRY_OR_CLEAN_UP(status, yk_trace_destroy(trace));
    *out = trace;
    return YK_OK;
}

yk_status yk_schedule_report_write_chrome_trace(const struct yk_schedule_report *report,
                                                struct yk_text *out)
{
    struct yk_trace *trace = NULL;
    YK_TRY(yk_schedule_report_make_trace(report, &trace));
    const yk_status status = yk_chrome_trace_write_json(trace, out);
    yk_trace_destroy(trace);
    return status;
}

/* ---- SVG ---- */

static yk_status draw(const struct yk_schedule_report *report, struct yk_arena *arena,
                      struct yk_text *out)
{
    struct yk_gantt_time_chart_options options = {.lower_bound = report->lower_bound,
                                                  .kinds = report->kinds};
    struct yk_text title = {0};
    struct yk_time_chart chart;
    yk_text_addf(&title, "%s, scheduled by %s", report->source, report->algorithm);
    YK_TRY(yk_text_move_to_arena(&title, arena, &options.title));
    YK_TRY(yk_gantt_make_time_chart(report->schedule, &options, arena, &chart));
    yk_time_chart_draw_svg(&chart,
                           (struct yk_figure){.width = SVG_WIDTH, .standalone = true, .out = out});
    return yk_text_status(out);
}

yk_status yk_schedule_report_write_svg(const struct yk_schedule_report *report, struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, draw(report, arena, out));
    return YK_OK;
}
