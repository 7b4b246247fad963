#include "sched/bound/makespan_bound.h"

#include <math.h>

enum {
    PRICE_SCALE = 1 << 20,
    MAX_ROUNDS = 200,
    MIN_ROUNDS = 8,
    CELLS_PER_SEARCH = 20000000, /* how much of the cost table may be read in search of prices */
};

struct pricing {
    const struct yk_graph *graph;
    double *prices; /* (P) */
    double *loads;  /* (P) what the cheapest assignment at these prices gives each device */
    double *best;   /* (P) the prices with the largest sum so far */
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
        double min = INFINITY;
        for (int32_t p = 0; p < P; p++) {
            const int64_t cost = yk_graph_task_cost(graph, i, p);
            const double priced = pricing->prices[p] * (double)cost;
            if (cost != YK_GRAPH_INFINITE_COST && priced < min) {
                min = priced;
                cheapest = p;
            }
        }
        sum += min;
        pricing->loads[cheapest] += (double)yk_graph_task_cost(graph, i, cheapest);
    }
    return sum;
}

/* e^x for x from 0 to 1/2, in arithmetic that every machine does alike. */
static double exponential(double x)
{
    return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))));
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
        pricing->prices[p] *= exponential(step * pricing->loads[p] / largest);
        sum += pricing->prices[p];
    }
    for (int32_t p = 0; p < P; p++) {
        pricing->prices[p] /= sum;
    }
}

/* Leaves the best prices of several rounds in pricing->best. */
static void search_prices(struct pricing *pricing)
{
    const int32_t P = pricing->graph->device_count;
    const int64_t cells = (int64_t)pricing->graph->task_count * P;
    int64_t rounds = CELLS_PER_SEARCH / cells;
    rounds = rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds;
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
}

yk_status yk_dual_prices_set_equal(const struct yk_graph *graph, struct yk_arena *arena,
                                   struct yk_dual_prices *out)
{
    YK_TRY_NEW(arena, out->of_device, graph->device_count);
    out->sum = graph->device_count;
    for (int32_t p = 0; p < graph->device_count; p++) {
        out->of_device[p] = 1;
    }
    return YK_OK;
}

yk_status yk_dual_prices_search(const struct yk_graph *graph, struct yk_arena *arena,
                                struct yk_dual_prices *out)
{
    struct pricing pricing = {.graph = graph};
    YK_TRY_NEW(arena, pricing.prices, graph->device_count);
    YK_TRY_NEW(arena, pricing.loads, graph->device_count);
    YK_TRY_NEW(arena, pricing.best, graph->device_count);
    YK_TRY_NEW(arena, out->of_device, graph->device_count);
    search_prices(&pricing);
    out->sum = 0;
    for (int32_t p = 0; p < graph->device_count; p++) {
        out->of_device[p] = llround(pricing.best[p] * PRICE_SCALE);
        out->sum += out->of_device[p];
    }
    return YK_OK;
}

yk_dual_priced_ticks yk_dual_prices_min_task_price(const struct yk_dual_prices *prices,
                                                   const struct yk_graph *graph, int32_t task)
{
    yk_dual_priced_ticks min = -1;
    for (int32_t p = 0; p < graph->device_count; p++) {
        const int64_t cost = yk_graph_task_cost(graph, task, p);
        const yk_dual_priced_ticks priced = (yk_dual_priced_ticks)cost * prices->of_device[p];
        if (cost != YK_GRAPH_INFINITE_COST && (min < 0 || priced < min)) {
            min = priced;
        }
    }
    return min;
}
