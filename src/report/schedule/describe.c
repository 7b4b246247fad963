#include "report/schedule/report.h"

#include "report/label.h"
#include "sched/schedule.h"

void yk_schedule_describe_graph_size(const struct yk_graph *graph, struct yk_text *out)
{
    yk_text_addf(out, "%s task%s on %d device%s", YK_LABEL_COUNT(graph->task_count),
                 yk_text_plural_suffix(graph->task_count), graph->device_count,
                 yk_text_plural_suffix(graph->device_count));
}

void yk_schedule_describe_makespan_gap(const struct yk_schedule_report *report, struct yk_text *out)
{
    const double makespan = (double)report->schedule->makespan;
    const double bound = (double)report->lower_bound;
    if (makespan <= bound) {
        yk_text_add(out, "no schedule is shorter");
    } else if (bound <= 0) {
        yk_text_add(out, "no lower bound is known");
    } else {
        yk_text_addf(out, "at most %s longer than the shortest possible",
                     YK_LABEL_PERCENT(makespan - bound, bound));
    }
}

static void add_data(const struct yk_schedule *schedule, int32_t task,
                     const struct yk_task_wait *wait, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    const int32_t from = schedule->devices[wait->task];
    const bool same = from == schedule->devices[task];
    yk_text_addf(out, "waits for %s%s %s %s, which %s at %s", same ? "" : "data of ",
                 graph->tasks[wait->task].name, same ? "on" : "from", graph->devices[from].name,
                 same ? "finishes" : "arrives", YK_LABEL_GRAPH_TIME(graph, wait->arrival));
}

void yk_schedule_describe_task_wait(const struct yk_schedule *schedule, int32_t task,
                                    const struct yk_task_wait *wait, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    const char *device = graph->devices[schedule->devices[task]].name;
    switch (wait->reason) {
    case YK_TASK_WAIT_NONE:
        yk_text_add(out, "starts at once");
        break;
    case YK_TASK_WAIT_DATA:
        add_data(schedule, task, wait, out);
        break;
    case YK_TASK_WAIT_DEVICE:
        yk_text_addf(out, "%s is busy with %s until %s", device, graph->tasks[wait->task].name,
                     YK_LABEL_GRAPH_TIME(graph, wait->arrival));
        break;
    case YK_TASK_WAIT_MEMORY:
        yk_text_addf(out, "waits for memory on %s until %s ends at %s", device,
                     graph->tasks[wait->task].name,
                     YK_LABEL_GRAPH_TIME(graph, schedule->starts[task]));
        break;
    case YK_TASK_WAIT_SCHEDULER:
        yk_text_addf(out, "could start at %s, but was left for later",
                     YK_LABEL_GRAPH_TIME(graph, wait->arrival));
        break;
    }
}
