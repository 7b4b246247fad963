/*
 * Sort: has the all-gathers of an order travel in the order in which they are used, as far as
 * blocks are of one size and the rules allow it. Loads and memory of all slots stay. Blocks of one
 * size are unit jobs with a release and a deadline: earliest deadline first meets every deadline
 * that can be met.
 */
#ifndef YK_PLANNER_ORDER_SORT_H
#define YK_PLANNER_ORDER_SORT_H

#include "planner/order/order.h"

yk_status yk_order_sort_gathers(const struct yk_order_problem *problem, struct yk_order *order,
                                struct yk_arena *arena) YK_MUST_USE;

#endif
