#include "sched/bound/makespan_bound.h"

#include "base/number.h"

#include <stdlib.h>

/* What surely lies before a task's start and after its end, in ticks. */
struct window {
    int64_t before;
    int64_t after;
    int32_t task;
};

enum {
    MAX_WINDOW_TASKS = 4000 /* windows are compared two by two */
};

static int by_falling_after(const void *left, const void *right)
{
    const struct window *a = left;
    const struct window *b = right;
    return (a->after < b->after) - (a->after > b->after);
}

/*
 * For every time a that some task cannot start before: of the tasks that cannot start before a
 * either, those with the most after them first, so that each prefix is a window [a, T − after].
 * `priced` is what each window's task costs at least.
 */
static int64_t work_of_windows(const struct yk_dual_prices *prices,
                               const yk_dual_priced_ticks *priced, const struct window *windows,
                               int32_t count)
{
    int64_t best = 0;
    for (int32_t a = 0; a < count; a++) {
        const int64_t before = windows[a].before;
        yk_dual_priced_ticks sum = 0;
        for (int32_t k = 0; k < count; k++) {
            if (windows[k].before < before) {
                continue;
            }
            sum += priced[k];
            const int64_t outside = before + windows[k].after;
            if (sum > (yk_dual_priced_ticks)(best - outside) * prices->sum) {
                best = outside + yk_dual_prices_work_to_ticks(prices, sum);
            }
        }
    }
    return best;
}

static int64_t work_at_prices(const struct yk_dual_prices *prices, const struct yk_graph *graph,
                              const struct window *windows, yk_dual_priced_ticks *priced)
{
    yk_dual_priced_ticks sum = 0;
    for (int32_t k = 0; k < graph->task_count; k++) {
        priced[k] = yk_dual_prices_min_task_price(prices, graph, windows[k].task);
        sum += priced[k];
    }
    const int64_t of_all = yk_dual_prices_work_to_ticks(prices, sum);
    const int64_t of_windows = graph->task_count <= MAX_WINDOW_TASKS
                                   ? work_of_windows(prices, priced, windows, graph->task_count)
                                   : 0;
    return of_all > of_windows ? of_all : of_windows;
}

static yk_status bound_work(const struct yk_graph *graph, struct yk_arena *arena,
                            struct window *windows, int64_t *out)
{
    struct yk_dual_prices equal;
    struct yk_dual_prices found;
    yk_dual_priced_ticks *priced = NULL;
    YK_TRY(yk_dual_prices_set_equal(graph, arena, &equal));
    YK_TRY(yk_dual_prices_search(graph, arena, &found));
    YK_TRY_NEW(arena, priced, graph->task_count);
    qsort(windows, (size_t)graph->task_count, sizeof *windows, by_falling_after);
    const int64_t at_equal = work_at_prices(&equal, graph, windows, priced);
    const int64_t at_found = work_at_prices(&found, graph, windows, priced);
    *out = at_equal > at_found ? at_equal : at_found;
    return YK_OK;
}

int64_t yk_makespan_bound_gcd_of_costs(const struct yk_graph *graph)
{
    const int64_t cells = (int64_t)graph->task_count * graph->device_count;
    int64_t granularity = 0;
    for (int64_t i = 0; i < cells && granularity != 1; i++) {
        if (graph->costs[i] != YK_GRAPH_INFINITE_COST) {
            granularity = yk_number_gcd(granularity, graph->costs[i]);
        }
    }
    for (int32_t e = 0; e < graph->edge_count && granularity != 1; e++) {
        const int64_t cost = graph->edges[e].cost;
        granularity = cost == YK_GRAPH_COST_FROM_LINK ? 1 : yk_number_gcd(granularity, cost);
    }
    return granularity > 0 ? granularity : 1;
}

/* The longest of all paths, and for each task the least time before its start and after its end. */
static int64_t longest_path(const struct yk_graph *graph, const struct yk_path_bounds *paths,
                            struct window *windows)
{
    const int64_t P = graph->device_count;
    int64_t longest = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        struct window window = {INT64_MAX, INT64_MAX, i};
        int64_t through = INT64_MAX;
        for (int64_t p = 0; p < P; p++) {
            const int64_t finish = paths->finish[i * P + p];
            if (finish == YK_GRAPH_INFINITE_COST) {
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
    struct yk_path_bounds paths;
    struct window *windows = NULL;
    int64_t work = 0;
    YK_TRY(yk_path_bounds_compute(graph, arena, &paths));
    YK_TRY_NEW(arena, windows, graph->task_count);
    const int64_t path = longest_path(graph, &paths, windows);
    YK_TRY(bound_work(graph, arena, windows, &work));
    const int64_t granularity = yk_makespan_bound_gcd_of_costs(graph);
    const int64_t bound = path > work ? path : work;
    *out = (bound + granularity - 1) / granularity * granularity;
    return YK_OK;
}

yk_status yk_makespan_bound_compute(const struct yk_graph *graph, int64_t *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, compute(graph, arena, out));
    return YK_OK;
}
