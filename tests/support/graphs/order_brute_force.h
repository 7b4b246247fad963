/*
 * Order by brute force: every order of a tiny problem is looked at. Written from the rules of
 * planner/order.h alone, and sharing nothing with what it is the judge of.
 */
#ifndef SUPPORT_ORDER_BRUTE_H
#define SUPPORT_ORDER_BRUTE_H

#include "planner/order/transfer_order.h"

enum {
    ORDER_BRUTE_LAYERS = 3,
    ORDER_BRUTE_BLOCKS = 2,
    ORDER_BRUTE_SLOTS = 2 * ORDER_BRUTE_LAYERS + 3,
};

/* The least step; INFINITY where memory suffices for no order. */
double order_brute_optimum(const struct yk_transfer_order_problem *problem);

/* Whether the order's blocks use more memory than there is in any slot. */
bool order_brute_exceeds(const struct yk_transfer_order_problem *problem,
                         const struct yk_transfer_order *order);

#endif
