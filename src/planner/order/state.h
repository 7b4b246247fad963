/*
 * State: a transfer order under construction. The load and memory of every slot are updated when a
 * block moves to an adjacent slot; a move changes the memory of one slot only. Lives in the arena
 * it was created in. Not thread-safe.
 */
#ifndef YK_PLANNER_ORDER_STATE_H
#define YK_PLANNER_ORDER_STATE_H

#include "planner/order/slot_window.h"
#include "planner/order/transfer_order.h"

/* See yk_transfer_order_blocks(). */
struct yk_transfer_order_op {
    double block_s;     /* link time of one block */
    double block_bytes; /* memory of one block */
};

struct yk_transfer_order_state {
    const struct yk_transfer_order_problem *problem;
    int32_t slots;
    int32_t op_count;
    int32_t word_count; /* 64-bit words of a set of ops */
    struct yk_transfer_order_op *ops;
    struct yk_transfer_order_slot_windows *windows; /* (n) */
    struct yk_transfer_order *order;
    int32_t *scattered;  /* (n, slots) blocks scattered from backward through the slot */
    int32_t *gathered;   /* (n, slots) the same for gathers before forward */
    uint64_t *present;   /* (slots, words) bit set of the ops that have blocks in the slot */
    double *load_s;      /* (slots) link time */
    double *used_bytes;  /* (slots) */
    double *limit_bytes; /* (slots) */
};

yk_status yk_transfer_order_state_create(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order_state **out) YK_MUST_USE;

/*
 * Sets the order that uses the least memory in every slot: gathers in the slot before their use,
 * scatters in the slot after backward. `kept` (n) says which undecided layers are kept.
 */
void yk_transfer_order_state_set_on_demand(struct yk_transfer_order_state *state, const bool *kept);

/* Copies an order, which must be valid, into the state. */
void yk_transfer_order_state_set(struct yk_transfer_order_state *state,
                                 const struct yk_transfer_order *order);

double yk_transfer_order_state_step_s(const struct yk_transfer_order_state *state);

/* Whether a block of `op` may move from `slot` to the next (`direction` 1) or previous (-1) slot;
 * memory is not checked. `*out_reach` is the number of slots it could move in that direction. */
bool yk_transfer_order_state_may_move(const struct yk_transfer_order_state *state, int32_t op,
                                      int32_t slot, int32_t direction, int32_t *out_reach);

void yk_transfer_order_state_move(struct yk_transfer_order_state *state, int32_t op, int32_t slot,
                                  int32_t direction);

static inline bool yk_transfer_order_op_is_all_gather(int32_t op)
{
    return (op & 1) != 0;
}

static inline int32_t *yk_transfer_order_state_blocks(const struct yk_transfer_order_state *state,
                                                      int32_t op, int32_t slot)
{
    return yk_transfer_order_blocks(state->order, state->slots, op, slot);
}

/*
 * Balancer: shortens the step by moving blocks between slots. It does not change which layers are
 * kept.
 *
 * A slot that communicates longer than it computes passes a block to its neighbour, which passes on
 * one of its own, until a slot with idle link time receives one. This is an augmenting path of a
 * maximum flow whose capacities are given by memory. With unlimited memory and blocks of one size
 * the exposed communication becomes minimal.
 */
struct yk_transfer_order_balancer;

yk_status yk_transfer_order_balancer_create(const struct yk_transfer_order_state *state,
                                            struct yk_arena *arena,
                                            struct yk_transfer_order_balancer **out) YK_MUST_USE;

enum {
    YK_TRANSFER_ORDER_BALANCER_NARROW = 3,
    YK_TRANSFER_ORDER_BALANCER_WIDE = 16,
};

/*
 * Moves blocks until no path shortens the step. The state must fit into memory, and still fits
 * afterwards. `width` is the number of partial paths kept per slot; blocks of many sizes need more.
 * `*work` is the number of partial paths that may be examined; it is decreased by those that were.
 */
void yk_transfer_order_balancer_run(struct yk_transfer_order_balancer *balancer,
                                    struct yk_transfer_order_state *state, int32_t width,
                                    int64_t *work);

#endif
