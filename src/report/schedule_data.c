#include "report/schedule_data.h"

#include "base/arena.h"
#include "base/json_write.h"
#include "report/schedule_words.h"
#include "sched/wait.h"

enum {
    MOST_TASKS = 5000,
    MOST_EDGES = 50000
};

bool yk_schedule_data_is_detailed(const struct yk_graph *graph)
{
    return graph->task_count <= MOST_TASKS && graph->edge_count <= MOST_EDGES;
}

static void add_time(struct yk_json_writer *json, const char *key, const struct yk_graph *graph,
                     int64_t ticks)
{
    yk_json_write_number(json, key, yk_graph_time(graph, ticks));
}

static void add_devices(const struct yk_graph *graph, struct yk_json_writer *json)
{
    yk_json_write_line(json, 0);
    yk_json_write_begin_array(json, "devices");
    for (int32_t p = 0; p < graph->device_count; p++) {
        yk_json_write_string(json, NULL, graph->devices[p].name);
    }
    yk_json_write_end_array(json);
}

/* Each as its device, its start, its finish, and its task or −1. */
static void add_bars(const struct yk_schedule *schedule, const struct yk_gantt_bars *bars,
                     struct yk_json_writer *json)
{
    yk_json_write_line(json, 0);
    yk_json_write_begin_array(json, "bars");
    for (int32_t k = 0; k < bars->count; k++) {
        const struct yk_gantt_bar *bar = &bars->bars[k];
        yk_json_write_begin_array(json, NULL);
        yk_json_write_integer(json, NULL, schedule->devices[bar->task]);
        add_time(json, NULL, schedule->graph, bar->start);
        add_time(json, NULL, schedule->graph, bar->finish);
        yk_json_write_integer(json, NULL, bar->count == 1 ? bar->task : -1);
        yk_json_write_end_array(json);
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
        const int64_t delay =
            yk_graph_delay(graph, edge, schedule->devices[edge->from], schedule->devices[task]);
        yk_json_write_begin_array(json, NULL);
        yk_json_write_integer(json, NULL, edge->from);
        add_time(json, NULL, graph, schedule->finishes[edge->from] + delay);
        add_time(json, NULL, graph, delay);
        yk_json_write_end_array(json);
    }
    yk_json_write_end_array(json);
}

static void add_task(const struct yk_schedule *schedule, int32_t task, const struct yk_wait *wait,
                     struct yk_json_writer *json)
{
    struct yk_text why = {0};
    yk_schedule_words_wait(schedule, task, wait, &why);
    yk_json_write_begin_row(json, 0);
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
    struct yk_wait *waits = NULL;
    YK_TRY_NEW(arena, waits, schedule->graph->task_count);
    YK_TRY(yk_wait_explain(schedule, waits));
    yk_json_write_line(json, 0);
    yk_json_write_begin_array(json, "tasks");
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        add_task(schedule, i, &waits[i], json);
    }
    yk_json_write_end_array(json);
    return YK_OK;
}

static yk_status write(const struct yk_schedule_report *report,
                       const struct yk_gantt_svg_options *chart, struct yk_arena *arena,
                       struct yk_text *out)
{
    struct yk_schedule *schedule = report->schedule;
    struct yk_json_writer json = {.text = out};
    struct yk_gantt_bars bars;
    YK_TRY(yk_gantt_svg_bars(schedule, chart, arena, &bars));
    yk_json_write_begin_row(&json, 0);
    add_time(&json, "makespan", schedule->graph, schedule->makespan);
    add_time(&json, "lower_bound", schedule->graph, report->lower_bound);
    add_devices(schedule->graph, &json);
    add_bars(schedule, &bars, &json);
    if (yk_schedule_data_is_detailed(schedule->graph)) {
        YK_TRY(add_tasks(schedule, arena, &json));
    }
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

yk_status yk_schedule_data_write(const struct yk_schedule_report *report,
                                 const struct yk_gantt_svg_options *chart, struct yk_text *out)
{
    YK_TRY_IN_ARENA(arena, write(report, chart, arena, out));
    return YK_OK;
}
