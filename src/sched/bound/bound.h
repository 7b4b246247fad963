/*
 * Makespan bound: a lower bound of the makespan of every schedule of a graph, in ticks. It is the
 * largest of three bounds:
 *   path    the time before, during and after a task on its best device
 *   work    the work of all tasks, shared by all devices: the dual of the fractional assignment
 *   window  the same for the tasks that cannot start before one time nor end after another
 */
#ifndef YK_SCHED_BOUND_BOUND_H
#define YK_SCHED_BOUND_BOUND_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

yk_status yk_bound_compute(const struct yk_graph *graph, int64_t *out) YK_MUST_USE;

/* The greatest common divisor of all costs. Some optimal makespan is a multiple of it. */
int64_t yk_bound_granularity(const struct yk_graph *graph);

/* Lower bounds of the time before and after each task. */
struct yk_bound_paths {
    int64_t *finish; /* (n, P) earliest finish of the task on the device, or YK_GRAPH_NEVER */
    int64_t *rest;   /* (n, P) minimum time from that finish to the end of the schedule */
};

/* Computes the bounds of all tasks. The arrays live in `arena`. */
yk_status yk_bound_paths_find(const struct yk_graph *graph, struct yk_arena *arena,
                              struct yk_bound_paths *out) YK_MUST_USE;

/*
 * Dual prices of the devices. Let λ_p be the price of device p, with Σ λ_p = 1. In a schedule of
 * length T no device works longer than T, so T ≥ Σ_p λ_p load_p ≥ Σ_i min_p λ_p w(i, p).
 * Prices are stored as integers. The sum of the priced work is divided by the sum of the prices and
 * rounded up, so the bound is exact.
 */
struct yk_bound_prices {
    int64_t *of_device; /* (P) */
    int64_t sum;
};

typedef __int128 yk_bound_priced_ticks; /* ticks times prices */

/* Gives every device the same price. The array lives in `arena`. */
yk_status yk_bound_prices_equal(const struct yk_graph *graph, struct yk_arena *arena,
                                struct yk_bound_prices *out) YK_MUST_USE;

/* Searches for prices that make the work bound large: overloaded devices become expensive. */
yk_status yk_bound_prices_find(const struct yk_graph *graph, struct yk_arena *arena,
                               struct yk_bound_prices *out) YK_MUST_USE;

/* The price of a task on its cheapest device. */
yk_bound_priced_ticks yk_bound_prices_cheapest(const struct yk_bound_prices *prices,
                                               const struct yk_graph *graph, int32_t task);

/* The minimum ticks for that much priced work: the work divided by the sum of prices, rounded up.
 */
static inline int64_t yk_bound_prices_time(const struct yk_bound_prices *prices,
                                           yk_bound_priced_ticks sum)
{
    return (int64_t)((sum + prices->sum - 1) / prices->sum);
}

#endif
