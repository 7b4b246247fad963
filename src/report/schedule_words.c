#include "report/schedule_words.h"

#include "report/label.h"

void yk_schedule_words_gap(const struct yk_schedule_report *report, struct yk_text *out)
{
    const double makespan = (double)report->schedule->makespan;
    const double bound = (double)report->lower_bound;
    if (makespan <= bound) {
        yk_text_add(out, "no schedule is shorter");
    } else if (bound <= 0) {
        yk_text_add(out, "no lower bound is known");
    } else {
        char percent[YK_NUMBER_SIZE];
        yk_label_percent(makespan - bound, bound, percent);
        yk_text_addf(out, "at most %s longer than the shortest possible", percent);
    }
}

static void add_data(const struct yk_schedule *schedule, int32_t task, const struct yk_wait *wait,
                     struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    const int32_t from = schedule->devices[wait->task];
    const bool same = from == schedule->devices[task];
    yk_text_addf(out, "waits for %s%s %s %s, which %s at ", same ? "" : "data of ",
                 graph->tasks[wait->task].name, same ? "on" : "from", graph->devices[from].name,
                 same ? "finishes" : "arrives");
    yk_label_add_time(out, graph, wait->arrival);
}

void yk_schedule_words_wait(const struct yk_schedule *schedule, int32_t task,
                            const struct yk_wait *wait, struct yk_text *out)
{
    const struct yk_graph *graph = schedule->graph;
    switch (wait->reason) {
    case YK_WAIT_NOTHING:
        yk_text_add(out, "starts at once");
        break;
    case YK_WAIT_DATA:
        add_data(schedule, task, wait, out);
        break;
    case YK_WAIT_DEVICE:
        yk_text_addf(out, "%s is busy with %s until ", graph->devices[schedule->devices[task]].name,
                     graph->tasks[wait->task].name);
        yk_label_add_time(out, graph, wait->arrival);
        break;
    case YK_WAIT_MEMORY:
        yk_text_addf(out, "waits for memory on %s until %s ends at ",
                     graph->devices[schedule->devices[task]].name, graph->tasks[wait->task].name);
        yk_label_add_time(out, graph, schedule->starts[task]);
        break;
    case YK_WAIT_CHOICE:
        yk_text_add(out, "could start at ");
        yk_label_add_time(out, graph, wait->arrival);
        yk_text_add(out, ", but was left for later");
        break;
    }
}
