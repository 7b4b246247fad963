#include "base/arena.h"
#include "report/schedule_report.h"

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
            .start_s = yk_graph_time(graph, schedule->starts[i]),
            .end_s = yk_graph_time(graph, schedule->finishes[i]),
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

static yk_status fill(const struct yk_schedule *schedule, struct yk_arena *arena,
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

yk_status yk_schedule_report_trace(const struct yk_schedule_report *report, struct yk_trace **out)
{
    struct yk_arena *arena = NULL;
    struct yk_trace *trace = NULL;
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_arena_create(&arena), fail);
    YK_TRY_GOTO(yk_trace_create(&trace), fail);
    YK_TRY_GOTO(fill(report->schedule, arena, trace), fail);
    yk_arena_destroy(arena);
    *out = trace;
    return YK_OK;
fail:
    yk_trace_destroy(trace);
    yk_arena_destroy(arena);
    return status;
}
