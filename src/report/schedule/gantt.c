#include "report/schedule/gantt.h"

#include <math.h>

static int32_t colour_of(const struct yk_graph *graph, const int32_t *kinds, int32_t task)
{
    const int32_t group = graph->tasks[task].group;
    const int32_t kind = kinds ? kinds[task] : group == YK_GRAPH_NO_GROUP ? task : group;
    return kind % YK_TIME_CHART_TASK_COLOUR_COUNT;
}

static yk_status make_rows(struct yk_schedule *schedule, const int32_t *kinds,
                           struct yk_arena *arena, struct yk_time_chart_row **out)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_schedule_device_tasks lanes;
    struct yk_time_chart_row *rows = NULL;
    struct yk_time_chart_bar *bars = NULL;
    YK_TRY(yk_schedule_list_device_tasks(schedule, &lanes));
    YK_TRY_NEW(arena, rows, graph->device_count);
    YK_TRY_NEW(arena, bars, graph->task_count);
    for (int32_t k = 0; k < graph->task_count; k++) {
        const int32_t task = lanes.tasks[k];
        bars[k] = (struct yk_time_chart_bar){
            .start = yk_graph_ticks_to_time(graph, schedule->starts[task]),
            .end = yk_graph_ticks_to_time(graph, schedule->finishes[task]),
            .label = graph->tasks[task].name,
            .kind = colour_of(graph, kinds, task),
            .number = task,
        };
    }
    for (int32_t p = 0; p < graph->device_count; p++) {
        rows[p] = (struct yk_time_chart_row){
            .name = graph->devices[p].name,
            .bars = bars + lanes.first[p],
            .count = lanes.first[p + 1] - lanes.first[p],
        };
    }
    *out = rows;
    return YK_OK;
}

static yk_status make_links(const struct yk_schedule *schedule, struct yk_arena *arena,
                            struct yk_time_chart *out)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_time_chart_arrow *links = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, links, (int64_t)graph->edge_count + 1);
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int32_t from = schedule->devices[edge->from];
        const int32_t to = schedule->devices[edge->to];
        const int64_t sent = schedule->finishes[edge->from];
        if (from != to) {
            links[count++] = (struct yk_time_chart_arrow){
                .from = from,
                .to = to,
                .start = yk_graph_ticks_to_time(graph, sent),
                .end = yk_graph_ticks_to_time(
                    graph, sent + yk_graph_edge_delay_ticks(graph, edge, from, to)),
            };
        }
    }
    out->links = links;
    out->link_count = count;
    return YK_OK;
}

yk_status yk_gantt_make_time_chart(struct yk_schedule *schedule,
                                   const struct yk_gantt_time_chart_options *options,
                                   struct yk_arena *arena, struct yk_time_chart *out)
{
    const struct yk_graph *graph = schedule->graph;
    const double makespan = yk_graph_ticks_to_time(graph, schedule->makespan);
    struct yk_time_chart_row *rows = NULL;
    struct yk_time_chart_group *group = NULL;
    YK_TRY_NEW(arena, group, 1);
    YK_TRY(make_rows(schedule, options->kinds, arena, &rows));
    *group = (struct yk_time_chart_group){.rows = rows, .row_count = graph->device_count};
    *out = (struct yk_time_chart){
        .title = options->title,
        .tasks = true,
        .end_name = "makespan",
        .span = fmax(makespan, options->span),
        .end = makespan,
        .bound =
            options->lower_bound > 0 ? yk_graph_ticks_to_time(graph, options->lower_bound) : NAN,
        .groups = group,
        .group_count = 1,
    };
    return make_links(schedule, arena, out);
}
