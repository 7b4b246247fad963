/*
 * Order sums: what an order amounts to in every slot. Nothing is checked here; any thread.
 */
#ifndef YK_PLANNER_ORDER_SUMS_H
#define YK_PLANNER_ORDER_SUMS_H

#include "planner/order/order.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_ORDER_SLOT_NAME_SIZE = 32
};

/* "forward 3", "middle", "backward 3", "end", "begin". */
void yk_order_slot_name(const struct yk_order_problem *problem, int32_t slot,
                        char out[YK_ORDER_SLOT_NAME_SIZE]);

/* An order with nothing in it yet. */
yk_status yk_order_create(const struct yk_order_problem *problem, struct yk_arena *arena,
                          struct yk_order **out) YK_MUST_USE;

/* Copies all but the pointers. */
void yk_order_copy(const struct yk_order_problem *problem, const struct yk_order *from,
                   struct yk_order *to);

/* Seconds that the link is busy in each slot: (2n + 3). */
void yk_order_loads_s(const struct yk_order_problem *problem, const struct yk_order *order,
                      double *out_s);

/* Bytes of gathered parameters and of gradients in each slot: (2n + 3). */
void yk_order_memory_bytes(const struct yk_order_problem *problem, const struct yk_order *order,
                           double *out_bytes);

/* The most bytes a slot can use: its room, and what rounding may add. */
double yk_order_limit_bytes(double room_bytes);

/* The step of slots with these loads. */
double yk_order_step_s(const struct yk_order_problem *problem, const double *load_s);

/* Says which slot of these uses lacks most, or YK_OK where none lacks any. */
yk_status yk_order_check_memory(const struct yk_order_problem *problem,
                                const double *used_bytes) YK_MUST_USE;

#endif
