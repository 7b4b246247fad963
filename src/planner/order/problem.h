/*
 * Problem: reads the JSON files that say when a step computes and what has to travel.
 *
 * Members that are not needed are ignored, all others are checked.
 *
 *   layers            n
 *   blocks            into how many equal blocks each layer is cut
 *   compute_s         of each slot, 2n + 3 of them, in the order of planner/order.h
 *   activation_bytes  likewise
 *   comm_s            of each layer: to gather or to scatter the whole of it
 *   full_bytes        of each layer: gathered, and as large a gradient
 *   static_bytes      held all the time
 *   memory_bytes      that there is for everything
 *   barrier           true or false; false where it is missing
 */
#ifndef YK_PLANNER_ORDER_PROBLEM_H
#define YK_PLANNER_ORDER_PROBLEM_H

#include "planner/order/order.h"

#include <stddef.h>

enum {
    YK_ORDER_MAX_LAYERS = 1024,
    YK_ORDER_MAX_BLOCKS = 4096,
};

/* `source` is what messages call the text. The problem lives in the arena; all layers are open. */
yk_status yk_order_problem_read(const char *text, size_t length, const char *source,
                                struct yk_arena *arena, struct yk_order_problem **out) YK_MUST_USE;

#endif
