/*
 * Draft: a transfer order under construction. When a block moves to an adjacent slot, the load
 * (link time) and the memory of the slots are updated. A move changes the memory of only one slot.
 * A draft belongs to the arena in which it was created. Not thread-safe. n is the number of layers.
 */
#ifndef YK_PLANNER_ORDER_DRAFT_H
#define YK_PLANNER_ORDER_DRAFT_H

#include "planner/order/slot_window.h"
#include "planner/order/transfer_order.h"

/* A collective of a layer. Op 2i is the reduce-scatter or all-reduce of layer i, op 2i + 1 stands
 * for all its all-gathers. */
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
    int32_t *scattered;  /* (n, slots) number of the layer's blocks that are scattered up to and
                            including the slot; valid in the slots between the layer's backward and
                            its next forward */
    int32_t *gathered;   /* (n, slots) number of the layer's blocks that are gathered for its next
                            forward, up to and including the slot; valid in the same slots as
                            `scattered` */
    uint64_t *present;   /* (slots, words) bit set of the ops that have blocks in the slot */
    double *load_s;      /* (slots) link time of all blocks in the slot */
    double *used_bytes;  /* (slots) */
    double *limit_bytes; /* (slots) */
};

yk_status yk_transfer_order_draft_create(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order_draft **out) YK_MUST_USE;

/*
 * Sets the order that uses the least memory in every slot. Each gather is in the last slot before
 * the layer computes, and each scatter is in the first slot after the layer's backward. An
 * undecided layer i is kept if kept[i] is true.
 */
void yk_transfer_order_draft_set_on_demand_order(struct yk_transfer_order_draft *state,
                                                 const bool *kept);

/* Copies an order into the draft. The order must be valid. */
void yk_transfer_order_draft_set_order(struct yk_transfer_order_draft *state,
                                       const struct yk_transfer_order *order);

double yk_transfer_order_draft_step_s(const struct yk_transfer_order_draft *state);

/* Returns true if a block of `op` may move from `slot` to the next slot (`direction` 1) or to the
 * previous slot (`direction` -1). Does not check memory. Sets `*out_reach` to the number of slots
 * from `slot` to the end of the window of `op` in this direction. */
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
 * receives a block. Such a chain of moves is an augmenting path of a maximum-flow problem, whose
 * capacities are limited by memory. With unlimited memory and blocks of equal size, the balancer
 * minimises the exposed communication, which is the communication that does not overlap with
 * computation.
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
 * Moves blocks until no path shortens the step or until `*work` is used up. The draft must fit into
 * memory; it still fits afterwards. `width` is the number of partial paths that are stored for each
 * slot; if blocks have many sizes, a larger width is better. `*work` is the number of partial paths
 * that may be examined; the function subtracts the number that it examined.
 */
void yk_transfer_order_balancer_run(struct yk_transfer_order_balancer *balancer,
                                    struct yk_transfer_order_draft *state, int32_t width,
                                    int64_t *work);

#endif
