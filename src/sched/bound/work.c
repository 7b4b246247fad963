#include "sched/bound/work.h"

#include "sched/bound/prices.h"

#include <stdlib.h>

enum {
    MOST_WINDOW_TASKS = 4000 /* windows are compared two by two */
};

static int by_falling_after(const void *left, const void *right)
{
    const struct yk_bound_window *a = left;
    const struct yk_bound_window *b = right;
    return (a->after < b->after) - (a->after > b->after);
}

/*
 * For every time a that some task cannot start before: of the tasks that cannot start before a
 * either, those with the most after them first, so that each prefix is a window [a, T − after].
 * `priced` is what each window's task costs at least.
 */
static int64_t work_of_windows(const struct yk_bound_prices *prices,
                               const yk_bound_priced_ticks *priced,
                               const struct yk_bound_window *windows, int32_t count)
{
    int64_t best = 0;
    for (int32_t a = 0; a < count; a++) {
        const int64_t before = windows[a].before;
        yk_bound_priced_ticks sum = 0;
        for (int32_t k = 0; k < count; k++) {
            if (windows[k].before < before) {
                continue;
            }
            sum += priced[k];
            const int64_t outside = before + windows[k].after;
            if (sum > (yk_bound_priced_ticks)(best - outside) * prices->sum) {
                best = outside + yk_bound_prices_time(prices, sum);
            }
        }
    }
    return best;
}

static int64_t work_at_prices(const struct yk_bound_prices *prices, const struct yk_graph *graph,
                              const struct yk_bound_window *windows, yk_bound_priced_ticks *priced)
{
    yk_bound_priced_ticks sum = 0;
    for (int32_t k = 0; k < graph->task_count; k++) {
        priced[k] = yk_bound_prices_cheapest(prices, graph, windows[k].task);
        sum += priced[k];
    }
    const int64_t of_all = yk_bound_prices_time(prices, sum);
    const int64_t of_windows = graph->task_count <= MOST_WINDOW_TASKS
                                   ? work_of_windows(prices, priced, windows, graph->task_count)
                                   : 0;
    return of_all > of_windows ? of_all : of_windows;
}

yk_status yk_bound_work_find(const struct yk_graph *graph, struct yk_arena *arena,
                             struct yk_bound_window *windows, int64_t *out)
{
    struct yk_bound_prices equal;
    struct yk_bound_prices found;
    yk_bound_priced_ticks *priced = NULL;
    YK_TRY(yk_bound_prices_equal(graph, arena, &equal));
    YK_TRY(yk_bound_prices_find(graph, arena, &found));
    YK_TRY_NEW(arena, priced, graph->task_count);
    qsort(windows, (size_t)graph->task_count, sizeof *windows, by_falling_after);
    const int64_t at_equal = work_at_prices(&equal, graph, windows, priced);
    const int64_t at_found = work_at_prices(&found, graph, windows, priced);
    *out = at_equal > at_found ? at_equal : at_found;
    return YK_OK;
}
