/*
 * State: a transfer order under construction. When a block moves to an adjacent slot, the load
 * (link time) and the memory of the slots are updated. A move changes the memory of only one slot.
 * A state's memory belongs to the arena in which it was created. Not thread-safe.
 */
#ifndef YK_PLANNER_ORDER_DRAFT_H
#define YK_PLANNER_ORDER_DRAFT_H

#include "planner/order/slot_window.h"
#include "planner/order/transfer_order.h"

/* A collective of a layer; yk_transfer_order_block_count_pointer() explains the numbers of ops. */
struct yk_transfer_order_op {
    double block_s;     /* link time of one block */
    double block_bytes; /* memory of one block */
};

struct yk_transfer_order_draft {
    const struct yk_transfer_order_problem *problem;
    int32_t slots;
    int32_t op_count;
    int32_t word_count; /* number of 64-bit words of a bit set of ops */
    struct yk_transfer_order_op *ops;
    struct yk_transfer_order_layer_windows *windows; /* (n) */
    struct yk_transfer_order *order;
    int32_t *scattered; /* (n, slots) number of blocks scattered after backward, up to and including
                           the slot */
    int32_t *gathered;  /* (n, slots) number of blocks gathered for the next forward, up to and
                           including the slot */
    uint64_t *present;  /* (slots, words) bit set of the ops that have blocks in the slot */
    double *load_s;     /* (slots) link time of all blocks in the slot */
    double *used_bytes; /* (slots) */
    double *limit_bytes; /* (slots) */
};

yk_status yk_transfer_order_draft_create(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order_draft **out) YK_MUST_USE;

/*
 * Sets the order that uses the least memory in every slot. Each gather is in the slot before the
 * layer computes, and each scatter is in the slot after the layer's backward. `kept` (n) says which
 * undecided layers are kept.
 */
void yk_transfer_order_draft_set_on_demand_order(struct yk_transfer_order_draft *state,
                                                 const bool *kept);

/* Copies an order into the state. The order must be valid. */
void yk_transfer_order_draft_set_order(struct yk_transfer_order_draft *state,
                                       const struct yk_transfer_order *order);

double yk_transfer_order_draft_step_s(const struct yk_transfer_order_draft *state);

/* Returns true if a block of `op` may move from `slot` to the next slot (`direction` 1) or to the
 * previous slot (`direction` -1). Does not check memory. Sets `*out_reach` to the number of slots
 * that the block could move in that direction. */
bool yk_transfer_order_draft_may_move_block(const struct yk_transfer_order_draft *state, int32_t op,
                                            int32_t slot, int32_t direction, int32_t *out_reach);

void yk_transfer_order_draft_move_block(struct yk_transfer_order_draft *state, int32_t op,
                                        int32_t slot, int32_t direction);

static inline bool yk_transfer_order_op_is_all_gather(int32_t op)
{
    return (op & 1) != 0;
}

static inline int32_t *
yk_transfer_order_draft_block_count_pointer(const struct yk_transfer_order_draft *state, int32_t op,
                                            int32_t slot)
{
    return yk_transfer_order_block_count_pointer(state->order, state->slots, op, slot);
}

/*
 * Balancer: shortens the step by moving blocks between slots. The set of kept layers does not
 * change.
 *
 * A slot that communicates longer than it computes passes a block to its neighbour. The neighbour
 * passes one of its own blocks to the next neighbour, and so on, until a slot with idle link time
 * receives a block. These moves are an augmenting path of a maximum flow, in which memory limits
 * the capacities. With unlimited memory and blocks of equal size, the balancer minimises the
 * exposed communication, which is the communication that does not overlap with computation.
 */
struct yk_transfer_order_balancer;

yk_status yk_transfer_order_balancer_create(const struct yk_transfer_order_draft *state,
                                            struct yk_arena *arena,
                                            struct yk_transfer_order_balancer **out) YK_MUST_USE;

enum {
    YK_TRANSFER_ORDER_BALANCER_NARROW = 3,
    YK_TRANSFER_ORDER_BALANCER_WIDE = 16,
};

/*
 * Moves blocks until no path shortens the step. The state must fit into memory before, and fits
 * afterwards. `width` is the number of partial paths that are stored for each slot; if blocks have
 * many sizes, a larger width is better. `*work` is the maximum number of partial paths to examine;
 * the function subtracts the number of paths that it examined.
 */
void yk_transfer_order_balancer_run(struct yk_transfer_order_balancer *balancer,
                                    struct yk_transfer_order_draft *state, int32_t width,
                                    int64_t *work);

#endif
