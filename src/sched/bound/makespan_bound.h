/*
 * Makespan bound: a lower bound of the makespan of every schedule of a graph, in ticks. In the
 * comments below, n is the number of tasks and P the number of devices. The bound is the largest of
 * three bounds, rounded up to a multiple of yk_makespan_bound_gcd_of_costs():
 *   path    the minimum time before, during and after a task, on the best device of the task; the
 *           largest of these times over all tasks
 *   work    the minimum time for the work of all tasks, if it could be divided among the devices in
 *           any way (computed with dual prices, see below)
 *   window  the time before a window, plus the time for the work of the tasks that must run in the
 *           window, plus the time after the window; the largest of these times over all windows.
 *           Not computed for graphs with more than 4000 tasks
 */
#ifndef YK_SCHED_BOUND_MAKESPAN_BOUND_H
#define YK_SCHED_BOUND_MAKESPAN_BOUND_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"

yk_status yk_makespan_bound_compute(const struct yk_graph *graph, int64_t *out) YK_MUST_USE;

/* Returns the greatest common divisor of all costs of tasks and edges. There is an optimal schedule
 * whose makespan is a multiple of this number. Returns 1 if the time of an edge depends on the
 * link. */
int64_t yk_makespan_bound_gcd_of_costs(const struct yk_graph *graph);

/* For each task on each device: lower bounds of the time until the task finishes, and of the time
 * from then to the end of the schedule. */
struct yk_path_bounds {
    /* (n, P) earliest finish of the task on the device; YK_GRAPH_INFINITE_COST means: the device
     * cannot run the task */
    int64_t *finish;
    int64_t *rest; /* (n, P) minimum time from the finish of the task to the end of the schedule */
};

/* Computes the bounds of all tasks. The arrays live in `arena`. */
yk_status yk_path_bounds_compute(const struct yk_graph *graph, struct yk_arena *arena,
                                 struct yk_path_bounds *out) YK_MUST_USE;

/*
 * Dual prices of the devices. Let λ_p be the price of device p, with Σ λ_p = 1, w(i, p) the cost of
 * task i on device p, and load_p the total cost of the tasks on device p. In a schedule of length
 * T, no load_p is more than T, so
 *   T ≥ Σ_p λ_p load_p ≥ Σ_i min_p λ_p w(i, p).
 * Prices are stored as integers, without division by their sum. Instead, the sum of the priced work
 * is divided by the sum of the prices and rounded up. So the bound has no rounding error.
 */
struct yk_dual_prices {
    int64_t *of_device; /* (P) price of each device */
    int64_t sum;
};

typedef __int128 yk_dual_priced_ticks; /* ticks times prices */

/* Gives every device the same price. The array lives in `arena`. */
yk_status yk_dual_prices_set_equal(const struct yk_graph *graph, struct yk_arena *arena,
                                   struct yk_dual_prices *out) YK_MUST_USE;

/* Searches for prices with a large work bound. Devices with too much work become expensive. */
yk_status yk_dual_prices_search(const struct yk_graph *graph, struct yk_arena *arena,
                                struct yk_dual_prices *out) YK_MUST_USE;

/* Returns the price of a task: the cost of the task times the price of the device, on the device
 * where this product is smallest. */
yk_dual_priced_ticks yk_dual_prices_min_task_price(const struct yk_dual_prices *prices,
                                                   const struct yk_graph *graph, int32_t task);

/* Returns the minimum time for the priced work `sum`, in ticks: `sum` divided by the sum of the
 * prices, rounded up. */
static inline int64_t yk_dual_prices_work_to_ticks(const struct yk_dual_prices *prices,
                                                   yk_dual_priced_ticks sum)
{
    return (int64_t)((sum + prices->sum - 1) / prices->sum);
}

#endif
