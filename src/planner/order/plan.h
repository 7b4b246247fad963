/*
 * Plan: a data-parallel plan's communication as an order problem, and the order found applied to
 * the plan. For plans of one group and one micro-batch.
 */
#ifndef YK_PLANNER_ORDER_PLAN_H
#define YK_PLANNER_ORDER_PLAN_H

#include "planner/order/order.h"
#include "planner/search/study.h"

enum yk_order_method {
    YK_ORDER_METHOD_GREEDY,
    YK_ORDER_METHOD_MILP,
};

struct yk_order_plan_options {
    enum yk_order_method method;
    bool open; /* kept or fully-sharded is chosen here for layers that are one of them */
    const double *max_bytes; /* (slots) room that may be used in each slot; NULL: all there is */
    double budget_s;         /* of the integer program */
};

/* The slots of a plan that has no transfers yet. In the arena. */
yk_status yk_order_plan_problem(struct yk_study *study, const struct yk_plan *plan, bool open,
                                struct yk_arena *arena, struct yk_order_problem **out) YK_MUST_USE;

/*
 * Orders the plan's communication; its transfers and, if they are open, its strategies change.
 * `out_ordered` is false when no order fits: the plan stays as it was then.
 */
yk_status yk_order_plan_apply(struct yk_study *study, const struct yk_order_plan_options *options,
                              struct yk_arena *arena, struct yk_plan *plan,
                              bool *out_ordered) YK_MUST_USE;

#endif
