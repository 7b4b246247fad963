#include "report/device_figures.h"

#include "sched/memory.h"

yk_status yk_device_figures_count(const struct yk_schedule *schedule, struct yk_arena *arena,
                                  struct yk_device_figures **out)
{
    const struct yk_graph *graph = schedule->graph;
    struct yk_device_figures *figures = NULL;
    YK_TRY_NEW(arena, figures, graph->device_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        struct yk_device_figures *device = &figures[schedule->devices[i]];
        device->tasks++;
        device->busy += schedule->finishes[i] - schedule->starts[i];
    }
    if (graph->limited) {
        int64_t *peaks = NULL;
        YK_TRY_NEW(arena, peaks, graph->device_count);
        YK_TRY(yk_schedule_memory_peaks(schedule, peaks));
        for (int32_t p = 0; p < graph->device_count; p++) {
            figures[p].peak_bytes = peaks[p];
        }
    }
    *out = figures;
    return YK_OK;
}
