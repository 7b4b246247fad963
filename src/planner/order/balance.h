/*
 * Balance: makes an order faster by moving blocks between slots; which layers are kept stays.
 *
 * A slot that communicates longer than it computes hands a block to its neighbour, that one hands
 * on a block of its own, until a slot with time to spare receives one: an augmenting path of a
 * maximum flow, whose capacities are what memory leaves. Without limits on memory, and with blocks
 * of one size, what remains exposed is minimal.
 */
#ifndef YK_PLANNER_ORDER_BALANCE_H
#define YK_PLANNER_ORDER_BALANCE_H

#include "planner/order/state.h"

struct yk_order_balance;

yk_status yk_order_balance_create(const struct yk_order_state *state, struct yk_arena *arena,
                                  struct yk_order_balance **out) YK_MUST_USE;

enum {
    YK_ORDER_BALANCE_NARROW = 3,
    YK_ORDER_BALANCE_WIDE = 16,
};

/*
 * Moves blocks until no path makes the step shorter. The state fits before and after. `width` is
 * how many ways to each slot are looked into: blocks of many sizes need more of them. `work` is how
 * many ways may be looked into in all, and at the end how many are left: after the last one, the
 * state stays as it is.
 */
void yk_order_balance_run(struct yk_order_balance *balance, struct yk_order_state *state,
                          int32_t width, int64_t *work);

#endif
