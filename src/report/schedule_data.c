#include "report/schedule_data.h"

#include "base/arena.h"
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

static void add_time(struct yk_text *out, const struct yk_graph *graph, int64_t ticks)
{
    yk_text_add_number(out, yk_graph_time(graph, ticks));
}

static void add_devices(const struct yk_graph *graph, struct yk_text *out)
{
    for (int32_t p = 0; p < graph->device_count; p++) {
        yk_text_add(out, p > 0 ? "," : "");
        yk_text_add_json(out, graph->devices[p].name);
    }
}

static void add_bars(const struct yk_schedule *schedule, const struct yk_gantt_bars *bars,
                     struct yk_text *out)
{
    for (int32_t k = 0; k < bars->count; k++) {
        const struct yk_gantt_bar *bar = &bars->bars[k];
        yk_text_addf(out, "%s[%d,", k > 0 ? "," : "", schedule->devices[bar->task]);
        add_time(out, schedule->graph, bar->start);
        yk_text_add(out, ",");
        add_time(out, schedule->graph, bar->finish);
        yk_text_addf(out, ",%d]", bar->count == 1 ? bar->task : -1);
    }
}

static void add_inputs(const struct yk_schedule *schedule, int32_t task, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        const int64_t delay =
            yk_graph_delay(graph, edge, schedule->devices[edge->from], schedule->devices[task]);
        yk_text_addf(out, "%s[%d,", k > graph->in_first[task] ? "," : "", edge->from);
        add_time(out, graph, schedule->finishes[edge->from] + delay);
        yk_text_add(out, ",");
        add_time(out, graph, delay);
        yk_text_add(out, "]");
    }
}

static void add_task(const struct yk_schedule *schedule, int32_t task, const struct yk_wait *wait,
                     struct yk_text *out)
{
    struct yk_text why = {0};
    yk_text_add(out, task > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    yk_text_add_json(out, schedule->graph->tasks[task].name);
    yk_text_add(out, ",\"why\":");
    yk_schedule_words_wait(schedule, task, wait, &why);
    yk_text_add_json(out, yk_text_chars(&why));
    out->failed |= why.failed;
    yk_text_free(&why);
    yk_text_addf(out, ",\"after\":%d,\"inputs\":[", wait->task);
    add_inputs(schedule, task, out);
    yk_text_add(out, "]}");
}

static yk_status add_tasks(struct yk_schedule *schedule, struct yk_arena *arena,
                           struct yk_text *out)
{
    struct yk_wait *waits = NULL;
    YK_TRY_NEW(arena, waits, schedule->graph->task_count);
    YK_TRY(yk_wait_explain(schedule, waits));
    yk_text_add(out, ",\n\"tasks\":[");
    for (int32_t i = 0; i < schedule->graph->task_count; i++) {
        add_task(schedule, i, &waits[i], out);
    }
    yk_text_add(out, "]");
    return YK_OK;
}

static yk_status write(const struct yk_schedule_report *report,
                       const struct yk_gantt_svg_options *chart, struct yk_arena *arena,
                       struct yk_text *out)
{
    struct yk_schedule *schedule = report->schedule;
    struct yk_gantt_bars bars;
    YK_TRY(yk_gantt_svg_bars(schedule, chart, arena, &bars));
    yk_text_add(out, "\n{\"makespan\":");
    add_time(out, schedule->graph, schedule->makespan);
    yk_text_add(out, ",\"lower_bound\":");
    add_time(out, schedule->graph, report->lower_bound);
    yk_text_add(out, ",\n\"devices\":[");
    add_devices(schedule->graph, out);
    yk_text_add(out, "],\n\"bars\":[");
    add_bars(schedule, &bars, out);
    yk_text_add(out, "]");
    if (yk_schedule_data_is_detailed(schedule->graph)) {
        YK_TRY(add_tasks(schedule, arena, out));
    }
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}

yk_status yk_schedule_data_write(const struct yk_schedule_report *report,
                                 const struct yk_gantt_svg_options *chart, struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    const yk_status status = write(report, chart, arena, out);
    yk_arena_destroy(arena);
    return status;
}
