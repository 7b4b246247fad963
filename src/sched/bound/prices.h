/*
 * Prices of devices. Give device p the price λ_p, with Σ λ_p = 1. In a schedule of length T no
 * device works longer than T, so T ≥ Σ_p λ_p load_p ≥ Σ_i min_p λ_p w(i, p). Prices are whole
 * numbers here, and the sum of priced work is divided by the sum of the prices at the end, rounded
 * up, so that the bound holds exactly.
 */
#ifndef YK_SCHED_BOUND_PRICES_H
#define YK_SCHED_BOUND_PRICES_H

#include "base/arena.h"
#include "graph/graph.h"

typedef __int128 yk_bound_priced_ticks; /* ticks times prices */

struct yk_bound_prices {
    int64_t *of_device; /* (P) */
    int64_t sum;
};

/* All devices alike: priced work is then plain work. Memory is the arena's. */
yk_status yk_bound_prices_equal(const struct yk_graph *graph, struct yk_arena *arena,
                                struct yk_bound_prices *out) YK_MUST_USE;

/* Prices at which the work of all tasks costs much: dear where work crowds. */
yk_status yk_bound_prices_find(const struct yk_graph *graph, struct yk_arena *arena,
                               struct yk_bound_prices *out) YK_MUST_USE;

/* What a task costs at these prices where it is cheapest. */
yk_bound_priced_ticks yk_bound_prices_cheapest(const struct yk_bound_prices *prices,
                                               const struct yk_graph *graph, int32_t task);

/* The time that much priced work takes at least: the sum over the prices, rounded up. */
static inline int64_t yk_bound_prices_time(const struct yk_bound_prices *prices,
                                           yk_bound_priced_ticks sum)
{
    return (int64_t)((sum + prices->sum - 1) / prices->sum);
}

#endif
