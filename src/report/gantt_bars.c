#include "report/gantt_bars.h"

static bool joins(const struct yk_gantt_bar *bar, int64_t start, int64_t finish,
                  const struct yk_gantt_bars_limits *limits)
{
    const double least = limits->least_ticks;
    const bool both_short = (double)(finish - start) < least &&
                            (bar->count > 1 || (double)(bar->finish - bar->start) < least);
    return both_short && (double)(start - bar->finish) < least &&
           (double)(finish - bar->start) <= least * limits->longest;
}

static void merge(const struct yk_schedule *schedule, const struct yk_schedule_lanes *lanes,
                  const struct yk_gantt_bars_limits *limits, struct yk_gantt_bars *out)
{
    int32_t count = 0;
    for (int32_t p = 0; p < schedule->graph->device_count; p++) {
        out->first[p] = count;
        for (int32_t k = lanes->first[p]; k < lanes->first[p + 1]; k++) {
            const int32_t task = lanes->tasks[k];
            const int64_t start = schedule->starts[task];
            const int64_t finish = schedule->finishes[task];
            if (count > out->first[p] && joins(&out->bars[count - 1], start, finish, limits)) {
                struct yk_gantt_bar *bar = &out->bars[count - 1];
                bar->finish = finish > bar->finish ? finish : bar->finish;
                bar->busy += finish - start;
                bar->count++;
            } else {
                out->bars[count++] = (struct yk_gantt_bar){
                    .start = start,
                    .finish = finish,
                    .busy = finish - start,
                    .task = task,
                    .count = 1,
                };
            }
        }
    }
    out->first[schedule->graph->device_count] = count;
    out->count = count;
}

yk_status yk_gantt_bars_make(struct yk_schedule *schedule,
                             const struct yk_gantt_bars_limits *limits, struct yk_arena *arena,
                             struct yk_gantt_bars *out)
{
    struct yk_schedule_lanes lanes;
    struct yk_gantt_bars bars = {0};
    struct yk_gantt_bars_limits tried = *limits;
    YK_TRY(yk_schedule_list_lanes(schedule, &lanes));
    YK_TRY_NEW(arena, bars.bars, schedule->graph->task_count);
    YK_TRY_NEW(arena, bars.first, schedule->graph->device_count + 1);
    merge(schedule, &lanes, &tried, &bars);
    while (bars.count > limits->most && bars.count > schedule->graph->device_count &&
           tried.least_ticks <= 2 * (double)schedule->makespan) {
        tried.least_ticks = tried.least_ticks > 0 ? 2 * tried.least_ticks : 1;
        merge(schedule, &lanes, &tried, &bars);
    }
    *out = bars;
    return YK_OK;
}
