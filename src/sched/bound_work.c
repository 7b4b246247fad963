/*
 * Give device p the price λ_p, with Σ λ_p = 1. In a schedule of length T no device works longer
 * than T, so T ≥ Σ_p λ_p load_p ≥ Σ_i min_p λ_p w(i, p). Prices are whole numbers k_p here and the
 * sum is divided by Σ k_p at the end, so that nothing is rounded in the wrong direction.
 */
#include "sched/bound_work.h"

#include <math.h>
#include <stdlib.h>

typedef __int128 wide; /* a sum of priced ticks */

enum {
    PRICE_SCALE = 1 << 20,
    MOST_ROUNDS = 200,
    FEWEST_ROUNDS = 8,
    CELLS_PER_SEARCH = 20000000, /* how much of the cost table may be read in search of prices */
    MOST_WINDOW_TASKS = 4000,    /* windows are compared two by two */
};

struct pricing {
    const struct yk_graph *graph;
    double *prices; /* (P) */
    double *loads;  /* (P) what the cheapest assignment at these prices gives each device */
    double *best;   /* (P) the prices with the largest sum so far */
    int64_t *whole; /* (P) the best prices as whole numbers */
    int64_t whole_sum;
};

/* Assigns every task to where it is cheapest; returns the priced sum and fills the loads. */
static double assign(struct pricing *pricing)
{
    const struct yk_graph *graph = pricing->graph;
    const int32_t P = graph->device_count;
    double sum = 0;
    for (int32_t p = 0; p < P; p++) {
        pricing->loads[p] = 0;
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        int32_t cheapest = -1;
        double least = INFINITY;
        for (int32_t p = 0; p < P; p++) {
            const int64_t cost = yk_graph_cost(graph, i, p);
            const double priced = pricing->prices[p] * (double)cost;
            if (cost != YK_GRAPH_NEVER && priced < least) {
                least = priced;
                cheapest = p;
            }
        }
        sum += least;
        pricing->loads[cheapest] += (double)yk_graph_cost(graph, i, cheapest);
    }
    return sum;
}

/* Makes loaded devices dearer and idle ones cheaper (multiplicative weights). */
static void adjust_prices(struct pricing *pricing, double step)
{
    const int32_t P = pricing->graph->device_count;
    double largest = 1e-300;
    for (int32_t p = 0; p < P; p++) {
        largest = fmax(largest, pricing->loads[p]);
    }
    double sum = 0;
    for (int32_t p = 0; p < P; p++) {
        pricing->prices[p] *= exp(step * pricing->loads[p] / largest);
        sum += pricing->prices[p];
    }
    for (int32_t p = 0; p < P; p++) {
        pricing->prices[p] /= sum;
    }
}

static void find_prices(struct pricing *pricing)
{
    const int32_t P = pricing->graph->device_count;
    const int64_t cells = (int64_t)pricing->graph->task_count * P;
    int64_t rounds = CELLS_PER_SEARCH / cells;
    rounds = rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds < FEWEST_ROUNDS ? FEWEST_ROUNDS : rounds;
    double best_sum = -1;
    for (int32_t p = 0; p < P; p++) {
        pricing->prices[p] = 1.0 / P;
    }
    for (int64_t round = 0; round < rounds; round++) {
        const double sum = assign(pricing);
        if (sum > best_sum * (1 + 1e-9)) {
            best_sum = sum;
            for (int32_t p = 0; p < P; p++) {
                pricing->best[p] = pricing->prices[p];
            }
        }
        adjust_prices(pricing, 0.5 / (1 + 0.1 * (double)round));
    }
    pricing->whole_sum = 0;
    for (int32_t p = 0; p < P; p++) {
        pricing->whole[p] = llround(pricing->best[p] * PRICE_SCALE);
        pricing->whole_sum += pricing->whole[p];
    }
}

/* Equal prices: a sum that is a plain count of work over devices. */
static void equal_prices(struct pricing *pricing)
{
    pricing->whole_sum = pricing->graph->device_count;
    for (int32_t p = 0; p < pricing->graph->device_count; p++) {
        pricing->whole[p] = 1;
    }
}

static wide cheapest(const struct pricing *pricing, int32_t task)
{
    wide least = -1;
    for (int32_t p = 0; p < pricing->graph->device_count; p++) {
        const int64_t cost = yk_graph_cost(pricing->graph, task, p);
        const wide priced = (wide)cost * pricing->whole[p];
        if (cost != YK_GRAPH_NEVER && (least < 0 || priced < least)) {
            least = priced;
        }
    }
    return least;
}

static int64_t divided_up(wide sum, int64_t by)
{
    return (int64_t)((sum + by - 1) / by);
}

static int64_t work_of_all(const struct pricing *pricing)
{
    wide sum = 0;
    for (int32_t i = 0; i < pricing->graph->task_count; i++) {
        sum += cheapest(pricing, i);
    }
    return divided_up(sum, pricing->whole_sum);
}

static int by_falling_after(const void *left, const void *right)
{
    const struct yk_bound_window *a = left;
    const struct yk_bound_window *b = right;
    return (a->after < b->after) - (a->after > b->after);
}

/*
 * For every time a that some task cannot start before: of the tasks that cannot start before a
 * either, those with the most after them first, so that each prefix is a window [a, T − after].
 */
static int64_t work_of_windows(const struct pricing *pricing, const wide *priced,
                               const struct yk_bound_window *windows)
{
    const int32_t n = pricing->graph->task_count;
    int64_t best = 0;
    for (int32_t a = 0; a < n; a++) {
        const int64_t before = windows[a].before;
        wide sum = 0;
        for (int32_t k = 0; k < n; k++) {
            if (windows[k].before < before) {
                continue;
            }
            sum += priced[k];
            const int64_t outside = before + windows[k].after;
            if (sum > (wide)(best - outside) * pricing->whole_sum) {
                best = outside + divided_up(sum, pricing->whole_sum);
            }
        }
    }
    return best;
}

static int64_t work_at_prices(const struct pricing *pricing, wide *priced,
                              const struct yk_bound_window *windows)
{
    int64_t best = work_of_all(pricing);
    if (pricing->graph->task_count <= MOST_WINDOW_TASKS) {
        for (int32_t k = 0; k < pricing->graph->task_count; k++) {
            priced[k] = cheapest(pricing, windows[k].task);
        }
        const int64_t windowed = work_of_windows(pricing, priced, windows);
        best = windowed > best ? windowed : best;
    }
    return best;
}

yk_status yk_bound_find_work(const struct yk_graph *graph, struct yk_arena *arena,
                             struct yk_bound_window *windows, int64_t *out)
{
    struct pricing pricing = {.graph = graph};
    wide *priced = NULL;
    YK_TRY_NEW(arena, pricing.prices, graph->device_count);
    YK_TRY_NEW(arena, pricing.loads, graph->device_count);
    YK_TRY_NEW(arena, pricing.best, graph->device_count);
    YK_TRY_NEW(arena, pricing.whole, graph->device_count);
    YK_TRY_NEW(arena, priced, graph->task_count);
    qsort(windows, (size_t)graph->task_count, sizeof *windows, by_falling_after);
    equal_prices(&pricing);
    const int64_t at_equal = work_at_prices(&pricing, priced, windows);
    find_prices(&pricing);
    const int64_t at_best = work_at_prices(&pricing, priced, windows);
    *out = at_equal > at_best ? at_equal : at_best;
    return YK_OK;
}
