#include "sched/bound/bound.h"

#include "base/number.h"
#include "sched/bound/paths.h"
#include "sched/bound/work.h"

int64_t yk_bound_granularity(const struct yk_graph *graph)
{
    const int64_t cells = (int64_t)graph->task_count * graph->device_count;
    int64_t granule = 0;
    for (int64_t i = 0; i < cells && granule != 1; i++) {
        if (graph->costs[i] != YK_GRAPH_NEVER) {
            granule = yk_number_gcd(granule, graph->costs[i]);
        }
    }
    for (int32_t e = 0; e < graph->edge_count && granule != 1; e++) {
        const int64_t cost = graph->edges[e].cost;
        granule = cost == YK_GRAPH_BY_LINK ? 1 : yk_number_gcd(granule, cost);
    }
    return granule > 0 ? granule : 1;
}

/* The longest of all paths, and for each task the least time before its start and after its end. */
static int64_t longest_path(const struct yk_graph *graph, const struct yk_bound_paths *paths,
                            struct yk_bound_window *windows)
{
    const int64_t P = graph->device_count;
    int64_t longest = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        struct yk_bound_window window = {INT64_MAX, INT64_MAX, i};
        int64_t through = INT64_MAX;
        for (int64_t p = 0; p < P; p++) {
            const int64_t finish = paths->finish[i * P + p];
            if (finish == YK_GRAPH_NEVER) {
                continue;
            }
            const int64_t rest = paths->rest[i * P + p];
            const int64_t start = finish - graph->costs[i * P + p];
            through = finish + rest < through ? finish + rest : through;
            window.before = start < window.before ? start : window.before;
            window.after = rest < window.after ? rest : window.after;
        }
        windows[i] = window;
        longest = through > longest ? through : longest;
    }
    return longest;
}

static yk_status compute(const struct yk_graph *graph, struct yk_arena *arena, int64_t *out)
{
    struct yk_bound_paths paths;
    struct yk_bound_window *windows = NULL;
    int64_t work = 0;
    YK_TRY(yk_bound_paths_find(graph, arena, &paths));
    YK_TRY_NEW(arena, windows, graph->task_count);
    const int64_t path = longest_path(graph, &paths, windows);
    YK_TRY(yk_bound_work_find(graph, arena, windows, &work));
    const int64_t granule = yk_bound_granularity(graph);
    const int64_t bound = path > work ? path : work;
    *out = (bound + granule - 1) / granule * granule;
    return YK_OK;
}

yk_status yk_bound_compute(const struct yk_graph *graph, int64_t *out)
{
    YK_TRY_IN_ARENA(arena, compute(graph, arena, out));
    return YK_OK;
}
