/*
 * Makespan bound: a lower bound of the makespan of every schedule of a graph, in ticks. It is the
 * largest of three bounds:
 *   path    the time before, during and after a task on its best device
 *   work    the work of all tasks, shared by all devices: the dual of the fractional assignment
 *   window  the same for the tasks that cannot start before one time nor end after another
 */
#ifndef YK_SCHED_BOUND_MAKESPAN_BOUND_H
#define YK_SCHED_BOUND_MAKESPAN_BOUND_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

yk_status yk_makespan_bound_compute(const struct yk_graph *graph, int64_t *out) YK_MUST_USE;

/* The greatest common divisor of all costs. Some optimal makespan is a multiple of it. */
int64_t yk_makespan_bound_granularity(const struct yk_graph *graph);

/* Lower bounds of the time before and after each task. */
struct yk_path_bounds {
    int64_t
        *finish;   /* (n, P) earliest finish of the task on the device, or YK_GRAPH_INFINITE_COST */
    int64_t *rest; /* (n, P) minimum time from that finish to the end of the schedule */
};

/* Computes the bounds of all tasks. The arrays live in `arena`. */
yk_status yk_path_bounds_compute(const struct yk_graph *graph, struct yk_arena *arena,
                                 struct yk_path_bounds *out) YK_MUST_USE;

/*
 * Dual prices of the devices. Let λ_p be the price of device p, with Σ λ_p = 1. In a schedule of
 * length T no device works longer than T, so T ≥ Σ_p λ_p load_p ≥ Σ_i min_p λ_p w(i, p).
 * Prices are stored as integers. The sum of the priced work is divided by the sum of the prices and
 * rounded up, so the bound is exact.
 */
struct yk_dual_prices {
    int64_t *of_device; /* (P) */
    int64_t sum;
};

typedef __int128 yk_dual_priced_ticks; /* ticks times prices */

/* Gives every device the same price. The array lives in `arena`. */
yk_status yk_dual_prices_equal(const struct yk_graph *graph, struct yk_arena *arena,
                               struct yk_dual_prices *out) YK_MUST_USE;

/* Searches for prices that make the work bound large: overloaded devices become expensive. */
yk_status yk_dual_prices_search(const struct yk_graph *graph, struct yk_arena *arena,
                                struct yk_dual_prices *out) YK_MUST_USE;

/* The price of a task on its cheapest device. */
yk_dual_priced_ticks yk_dual_prices_cheapest_cost(const struct yk_dual_prices *prices,
                                                  const struct yk_graph *graph, int32_t task);

/* The minimum ticks for that much priced work: the work divided by the sum of prices, rounded up.
 */
static inline int64_t yk_dual_prices_to_ticks(const struct yk_dual_prices *prices,
                                              yk_dual_priced_ticks sum)
{
    return (int64_t)((sum + prices->sum - 1) / prices->sum);
}

#endif
