/* Bound: seconds that no order beats, with blocks however small. */
#ifndef YK_PLANNER_ORDER_BOUND_H
#define YK_PLANNER_ORDER_BOUND_H

#include "planner/order/order.h"

/*
 * At once: all communication, with as much kept as memory holds; or all computation, and what the
 * first layers expose between their backward and their forward. `least_bytes` is what each slot
 * uses at the least, with no open layer kept: yk_order_state_on_demand().
 */
yk_status yk_order_bound_quick(const struct yk_order_problem *problem, const double *min_bytes,
                               struct yk_arena *arena, double *out_s) YK_MUST_USE;

/*
 * From prices (Lagrange multipliers) of the link, in [0, 1], and of memory, in seconds for a byte,
 * of each slot: every layer by itself chooses what is cheapest for it. Any prices give a bound; the
 * prices of the relaxed program give as good a one as it does.
 */
yk_status yk_order_bound_from_prices(const struct yk_order_problem *problem,
                                     const double *link_prices, const double *memory_prices,
                                     struct yk_arena *arena, double *out_s) YK_MUST_USE;

#endif
