/*
 * Slot windows: the slots of the cycle (transfer_order.h) in which each collective of a layer may
 * run. A window is a range of slots. It may continue from the last slot of the cycle to the first.
 * The windows for one kind of collective are nested. For reduce-scatters and for gathers before
 * forward, the window of a layer contains the windows of all earlier layers. For gathers before
 * backward, the window of a layer contains the windows of all later layers.
 */
#ifndef YK_PLANNER_ORDER_SLOT_WINDOW_H
#define YK_PLANNER_ORDER_SLOT_WINDOW_H

#include "planner/order/transfer_order.h"

struct yk_transfer_order_slot_window {
    int32_t first;
    int32_t length; /* 0 means: the layer has no such collective */
};

static inline int32_t yk_transfer_order_slot_count(const struct yk_transfer_order_problem *problem)
{
    return 2 * problem->layer_count + 3;
}

static inline int32_t
yk_transfer_order_backward_slot(const struct yk_transfer_order_problem *problem, int32_t layer)
{
    return 2 * problem->layer_count - layer;
}

/* Returns the slot that is `steps` slots after `slot` in the cycle of `slots` slots. A negative
 * number of steps goes back. `steps` must be from -slots to slots. */
static inline int32_t yk_transfer_order_shift_slot(int32_t slots, int32_t slot, int32_t steps)
{
    const int32_t after = slot + steps;
    return after < 0 ? after + slots : (after >= slots ? after - slots : after);
}

static inline bool
yk_transfer_order_slot_window_contains(struct yk_transfer_order_slot_window window, int32_t slots,
                                       int32_t slot)
{
    return yk_transfer_order_shift_slot(slots, slot, -window.first) < window.length;
}

static inline int32_t
yk_transfer_order_slot_window_last_slot(struct yk_transfer_order_slot_window window, int32_t slots)
{
    return yk_transfer_order_shift_slot(slots, window.first, window.length - 1);
}

/* Returns true if the layer's gradients are reduce-scattered. */
static inline bool
yk_transfer_order_sharding_reduce_scatters(enum yk_transfer_order_sharding choice)
{
    return choice != YK_TRANSFER_ORDER_REPLICATED && choice != YK_TRANSFER_ORDER_NO_COMMUNICATION;
}

/* Returns true if the parameters of the layer are gathered and freed during the step, so that they
 * count as memory of slots. */
static inline bool yk_transfer_order_sharding_frees_weights(enum yk_transfer_order_sharding choice)
{
    return choice == YK_TRANSFER_ORDER_UNDECIDED || choice == YK_TRANSFER_ORDER_KEPT ||
           choice == YK_TRANSFER_ORDER_FULLY_SHARDED;
}

/* Returns the window of all slots between the layer's backward and its next forward. */
static inline struct yk_transfer_order_slot_window
yk_transfer_order_backward_to_forward_window(const struct yk_transfer_order_problem *problem,
                                             int32_t layer)
{
    return (struct yk_transfer_order_slot_window){
        yk_transfer_order_backward_slot(problem, layer) + 1, 2 * layer + 2};
}

/* Returns the window of the layer's reduce-scatter or all-reduce. A reduce-scatter cannot be in the
 * last slot before forward, because the gather must run in a later slot. */
static inline struct yk_transfer_order_slot_window
yk_transfer_order_reduce_window(const struct yk_transfer_order_problem *problem, int32_t layer)
{
    struct yk_transfer_order_slot_window window =
        yk_transfer_order_backward_to_forward_window(problem, layer);
    const enum yk_transfer_order_sharding choice = problem->layers[layer].choice;
    if (choice == YK_TRANSFER_ORDER_NO_COMMUNICATION) {
        window.length = 0;
    } else if (problem->barrier) {
        window.length =
            layer + 2 - (layer == 0 && yk_transfer_order_sharding_reduce_scatters(choice) ? 1 : 0);
    } else if (yk_transfer_order_sharding_reduce_scatters(choice)) {
        window.length--;
    }
    return window;
}

/* Returns the window of the gathers before the next forward. They cannot be in the first slot after
 * backward, because the reduce-scatter must run in an earlier slot. */
static inline struct yk_transfer_order_slot_window
yk_transfer_order_forward_gather_window(const struct yk_transfer_order_problem *problem,
                                        int32_t layer)
{
    struct yk_transfer_order_slot_window window =
        yk_transfer_order_backward_to_forward_window(problem, layer);
    if (!yk_transfer_order_sharding_reduce_scatters(problem->layers[layer].choice)) {
        window.length = 0;
    } else if (problem->barrier) {
        window.first = 2 * problem->layer_count + 2;
        window.length = layer + 1;
    } else {
        window.first =
            yk_transfer_order_shift_slot(yk_transfer_order_slot_count(problem), window.first, 1);
        window.length--;
    }
    return window;
}

/* Returns the window of the gathers before backward. It is empty if the layer cannot be
 * fully-sharded. */
static inline struct yk_transfer_order_slot_window
yk_transfer_order_backward_gather_window(const struct yk_transfer_order_problem *problem,
                                         int32_t layer)
{
    const enum yk_transfer_order_sharding choice = problem->layers[layer].choice;
    if (choice != YK_TRANSFER_ORDER_UNDECIDED && choice != YK_TRANSFER_ORDER_FULLY_SHARDED) {
        return (struct yk_transfer_order_slot_window){layer + 1, 0};
    }
    return (struct yk_transfer_order_slot_window){layer + 1,
                                                  2 * (problem->layer_count - layer) - 1};
}

/* All windows of a layer. */
struct yk_transfer_order_layer_windows {
    struct yk_transfer_order_slot_window scatter;
    struct yk_transfer_order_slot_window forward;
    struct yk_transfer_order_slot_window backward;
};

static inline struct yk_transfer_order_layer_windows
yk_transfer_order_layer_windows(const struct yk_transfer_order_problem *problem, int32_t layer)
{
    return (struct yk_transfer_order_layer_windows){
        yk_transfer_order_reduce_window(problem, layer),
        yk_transfer_order_forward_gather_window(problem, layer),
        yk_transfer_order_backward_gather_window(problem, layer),
    };
}

/* Returns a pointer to the number of blocks of an op in a slot. Op 2i is the reduce-scatter or
 * all-reduce of layer i, op 2i + 1 stands for all its all-gathers. */
static inline int32_t *yk_transfer_order_block_count_pointer(const struct yk_transfer_order *order,
                                                             int32_t slots, int32_t op,
                                                             int32_t slot)
{
    return &((op & 1) != 0 ? order->gathers : order->scatters)[(int64_t)(op >> 1) * slots + slot];
}

/* Returns true if the slot is between the layer's forward and its backward. */
static inline bool
yk_transfer_order_slot_is_between_passes(const struct yk_transfer_order_problem *problem,
                                         int32_t layer, int32_t slot)
{
    return slot > layer && slot < yk_transfer_order_backward_slot(problem, layer);
}

#endif
