/*
 * Transfer order of a plan: converts the communication of a data-parallel plan into a problem, and
 * applies the solution to the plan. Only for plans of one group and one micro-batch.
 */
#ifndef YK_PLANNER_ORDER_PLAN_H
#define YK_PLANNER_ORDER_PLAN_H

#include "planner/order/transfer_order.h"
#include "planner/search/search_context.h"

enum yk_transfer_order_method {
    YK_TRANSFER_ORDER_METHOD_GREEDY,
    YK_TRANSFER_ORDER_METHOD_MILP,
};

struct yk_transfer_order_plan_options {
    enum yk_transfer_order_method method;
    bool open;               /* also decide between kept and fully-sharded for every such layer */
    const double *max_bytes; /* (slots) limit of a slot's room; NULL means: no limit */
    double budget_s;         /* wall-clock limit of the integer program */
};

/* Creates the problem of a plan, in `arena`. The plan's own transfers are ignored. */
yk_status yk_transfer_order_plan_create_problem(struct yk_search_context *context,
                                                const struct yk_plan *plan, bool open,
                                                struct yk_arena *arena,
                                                struct yk_transfer_order_problem **out) YK_MUST_USE;

/*
 * Sets the plan's transfers and, with `options->open`, its strategies. If no order fits,
 * `*out_ordered` is false and the plan does not change.
 */
yk_status yk_transfer_order_plan_apply(struct yk_search_context *context,
                                       const struct yk_transfer_order_plan_options *options,
                                       struct yk_arena *arena, struct yk_plan *plan,
                                       bool *out_ordered) YK_MUST_USE;

#endif
