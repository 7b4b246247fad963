/*
 * State: an order being changed, with the load and the memory of every slot kept up to date while
 * blocks move from one slot to the next. A move changes memory in one slot only. Lives in the arena
 * it was made in; one thread at a time.
 */
#ifndef YK_PLANNER_ORDER_STATE_H
#define YK_PLANNER_ORDER_STATE_H

#include "planner/order/order.h"
#include "planner/order/slots.h"

/* The scatters of layer i are op 2i, its gathers, for forward and backward, are op 2i + 1. */
struct yk_order_op {
    double block_s;
    double block_bytes;
};

struct yk_order_state {
    const struct yk_order_problem *problem;
    int32_t slots;
    int32_t op_count;
    int32_t word_count; /* of a slot's set of ops */
    struct yk_order_op *ops;
    struct yk_order_window *scatter_windows;  /* (n) */
    struct yk_order_window *forward_windows;  /* (n) */
    struct yk_order_window *backward_windows; /* (n) */
    struct yk_order *order;
    int32_t *scattered;  /* (n, slots) blocks up to and with the slot, in the gap after backward */
    int32_t *gathered;   /* (n, slots) likewise, for forward */
    uint64_t *present;   /* (slots, words) the ops that have blocks in the slot */
    double *load_s;      /* (slots) */
    double *used_bytes;  /* (slots) */
    double *limit_bytes; /* (slots) */
};

yk_status yk_order_state_create(const struct yk_order_problem *problem, struct yk_arena *arena,
                                struct yk_order_state **out) YK_MUST_USE;

/*
 * Everything as late or early as it takes the least memory: gathers in the slot before their use,
 * scatters in the slot after backward. `kept` says it of open layers. No order with these layers
 * kept uses less memory in any slot.
 */
void yk_order_state_on_demand(struct yk_order_state *state, const bool *kept);

/* Takes over an order that is known to be one. */
void yk_order_state_load(struct yk_order_state *state, const struct yk_order *order);

double yk_order_state_step_s(const struct yk_order_state *state);

/* Whether a block of `op` that is in `slot` may move to the next slot (`direction` 1) or the one
 * before (-1), but for memory; and how many slots further its window goes from there. */
bool yk_order_state_may_move(const struct yk_order_state *state, int32_t op, int32_t slot,
                             int32_t direction, int32_t *out_reach);

void yk_order_state_move(struct yk_order_state *state, int32_t op, int32_t slot, int32_t direction);

static inline bool yk_order_op_is_all_gather(int32_t op)
{
    return (op & 1) != 0;
}

static inline int32_t *yk_order_state_blocks(const struct yk_order_state *state, int32_t op,
                                             int32_t slot)
{
    const int64_t cell = (int64_t)(op >> 1) * state->slots + slot;
    return yk_order_op_is_all_gather(op) ? &state->order->gathers[cell]
                                         : &state->order->scatters[cell];
}

#endif
