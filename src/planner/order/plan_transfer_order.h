/*
 * Transfer order of a plan: converts the communication of a data-parallel plan to a transfer-order
 * problem, and applies the solution to the plan. The plan must have one group and one micro-batch.
 */
#ifndef YK_PLANNER_ORDER_PLAN_TRANSFER_ORDER_H
#define YK_PLANNER_ORDER_PLAN_TRANSFER_ORDER_H

#include "planner/order/transfer_order.h"
#include "planner/search/search_context.h"

enum yk_transfer_order_method {
    YK_TRANSFER_ORDER_METHOD_GREEDY,
    YK_TRANSFER_ORDER_METHOD_MILP,
};

struct yk_plan_transfer_order_options {
    enum yk_transfer_order_method method;
    bool open; /* the solver chooses anew between kept and fully-sharded, for the layers that have
                  one of these strategies */
    const double *max_bytes; /* (slots) `room_bytes` of the problem is at most this; NULL means: no
                                such limit */
    double budget_s;         /* limit of the wall-clock time of the integer program */
};

/* Creates the problem of a plan, in `arena`. Ignores the transfers that the plan already has. If
 * `open` is true, layers that are kept or fully-sharded become undecided, except layers without
 * weights, layers that share weights, and layers without a backward. */
yk_status yk_plan_transfer_order_create_problem(struct yk_search_context *context,
                                                const struct yk_plan *plan, bool open,
                                                struct yk_arena *arena,
                                                struct yk_transfer_order_problem **out) YK_MUST_USE;

/*
 * Solves the problem of the plan and sets the plan's transfers and, if `options->open` is true,
 * its strategies. If no order fits into memory, `*out_ordered` is false and the plan does not
 * change.
 */
yk_status yk_plan_transfer_order_optimize(struct yk_search_context *context,
                                          const struct yk_plan_transfer_order_options *options,
                                          struct yk_arena *arena, struct yk_plan *plan,
                                          bool *out_ordered) YK_MUST_USE;

#endif
