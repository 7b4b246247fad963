#include "report/schedule_report.h"

static void add_task(const struct yk_schedule *schedule, int32_t task, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    yk_text_add(out, task == 0 ? "{\"name\":" : ",{\"name\":");
    yk_text_add_json(out, graph->tasks[task].name);
    yk_text_add(out, ",\"device\":");
    yk_text_add_json(out, graph->devices[schedule->devices[task]].name);
    yk_text_add(out, ",\"start\":");
    yk_text_add_number(out, yk_graph_time(graph, schedule->starts[task]));
    yk_text_add(out, ",\"finish\":");
    yk_text_add_number(out, yk_graph_time(graph, schedule->finishes[task]));
    yk_text_add(out, "}");
}

yk_status yk_schedule_report_json(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_schedule *schedule = report->schedule;
    yk_text_add(out, "{\"yoke\":1,\"algorithm\":");
    yk_text_add_json(out, report->algorithm);
    yk_text_add(out, ",\"makespan\":");
    yk_text_add_number(out, yk_graph_time(schedule->graph, schedule->makespan));
    yk_text_add(out, ",\"lower_bound\":");
    yk_text_add_number(out, yk_graph_time(schedule->graph, report->lower_bound));
    yk_text_add(out, ",\"tasks\":[");
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        add_task(schedule, i, out);
    }
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}
