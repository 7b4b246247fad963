#include "base/json_write.h"
#include "report/schedule_report.h"

static void add_task(const struct yk_schedule *schedule, int32_t task, struct yk_json_writer *json)
{
    const struct yk_graph *graph = schedule->graph;
    yk_json_write_begin_object(json, NULL);
    yk_json_write_string(json, "name", graph->tasks[task].name);
    yk_json_write_string(json, "device", graph->devices[schedule->devices[task]].name);
    yk_json_write_number(json, "start", yk_graph_time(graph, schedule->starts[task]));
    yk_json_write_number(json, "finish", yk_graph_time(graph, schedule->finishes[task]));
    yk_json_write_end_object(json);
}

yk_status yk_schedule_report_json(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_schedule *schedule = report->schedule;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "algorithm", report->algorithm);
    yk_json_write_number(&json, "makespan", yk_graph_time(schedule->graph, schedule->makespan));
    yk_json_write_number(&json, "lower_bound", yk_graph_time(schedule->graph, report->lower_bound));
    yk_json_write_begin_array(&json, "tasks");
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        add_task(schedule, i, &json);
    }
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
