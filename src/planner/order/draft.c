#include "planner/order/draft.h"

#include "planner/order/transfer_order.h"

#include <string.h>

enum {
    WORD_BITS = 64
};

static void describe(struct yk_transfer_order_draft *state)
{
    const struct yk_transfer_order_problem *problem = state->problem;
    struct yk_transfer_order_op *op = state->ops;
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        const bool counted = yk_transfer_order_sharding_frees_weights(layer->choice);
        *op++ = (struct yk_transfer_order_op){layer->scatter_s / layer->blocks,
                                              layer->gradient_bytes / layer->blocks};
        *op++ = (struct yk_transfer_order_op){layer->gather_s / layer->blocks,
                                              counted ? layer->weight_bytes / layer->blocks : 0};
        state->windows[i] = yk_transfer_order_layer_windows(problem, i);
    }
    for (int32_t t = 0; t < state->slots; t++) {
        state->limit_bytes[t] = yk_transfer_order_add_memory_tolerance(problem->room_bytes[t]);
    }
}

yk_status yk_transfer_order_draft_create(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order_draft **out)
{
    const int32_t n = problem->layer_count;
    struct yk_transfer_order_draft *state = NULL;
    YK_TRY_NEW(arena, state, 1);
    state->problem = problem;
    state->slots = yk_transfer_order_slot_count(problem);
    state->op_count = 2 * n;
    state->word_count = (state->op_count + WORD_BITS - 1) / WORD_BITS;
    YK_TRY_NEW(arena, state->ops, state->op_count);
    YK_TRY_NEW(arena, state->windows, n);
    YK_TRY_NEW(arena, state->scattered, (int64_t)n * state->slots);
    YK_TRY_NEW(arena, state->gathered, (int64_t)n * state->slots);
    YK_TRY_NEW(arena, state->present, (int64_t)state->word_count * state->slots);
    YK_TRY_NEW(arena, state->load_s, state->slots);
    YK_TRY_NEW(arena, state->used_bytes, state->slots);
    YK_TRY_NEW(arena, state->limit_bytes, state->slots);
    YK_TRY(yk_transfer_order_create_empty(problem, arena, &state->order));
    describe(state);
    *out = state;
    return YK_OK;
}

static void set_present(struct yk_transfer_order_draft *state, int32_t op, int32_t slot)
{
    uint64_t *word = &state->present[(int64_t)slot * state->word_count + op / WORD_BITS];
    const uint64_t bit = (uint64_t)1 << (op % WORD_BITS);
    *word = *yk_transfer_order_draft_block_count_pointer(state, op, slot) > 0 ? *word | bit
                                                                              : *word & ~bit;
}

/* Computes everything that follows from the order's blocks. */
static void derive(struct yk_transfer_order_draft *state)
{
    const struct yk_transfer_order_problem *problem = state->problem;
    memset(state->present, 0,
           (size_t)state->slots * (size_t)state->word_count * sizeof *state->present);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_slot_window gap =
            yk_transfer_order_backward_to_forward_window(problem, i);
        const int64_t row = (int64_t)i * state->slots;
        int32_t scattered = 0;
        int32_t gathered = 0;
        for (int32_t k = 0; k < gap.length; k++) {
            const int32_t t = yk_transfer_order_shift_slot(state->slots, gap.first, k);
            scattered += state->order->scatters[row + t];
            gathered += state->order->gathers[row + t];
            state->scattered[row + t] = scattered;
            state->gathered[row + t] = gathered;
        }
    }
    for (int32_t op = 0; op < state->op_count; op++) {
        for (int32_t t = 0; t < state->slots; t++) {
            if (*yk_transfer_order_draft_block_count_pointer(state, op, t) > 0) {
                set_present(state, op, t);
            }
        }
    }
    yk_transfer_order_compute_slot_link_times(problem, state->order, state->load_s);
    yk_transfer_order_compute_slot_memory(problem, state->order, state->used_bytes);
}

void yk_transfer_order_draft_set_on_demand_order(struct yk_transfer_order_draft *state,
                                                 const bool *kept)
{
    const struct yk_transfer_order_problem *problem = state->problem;
    struct yk_transfer_order *order = state->order;
    const size_t cells = (size_t)problem->layer_count * (size_t)state->slots;
    memset(order->scatters, 0, cells * sizeof *order->scatters);
    memset(order->gathers, 0, cells * sizeof *order->gathers);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const int64_t row = (int64_t)i * state->slots;
        const int32_t blocks = problem->layers[i].blocks;
        const struct yk_transfer_order_layer_windows *windows = &state->windows[i];
        order->kept[i] = problem->layers[i].choice == YK_TRANSFER_ORDER_KEPT ||
                         (problem->layers[i].choice == YK_TRANSFER_ORDER_UNDECIDED && kept[i]);
        if (windows->scatter.length > 0) {
            order->scatters[row + windows->scatter.first] = blocks;
        }
        if (windows->forward.length > 0) {
            const int32_t last =
                yk_transfer_order_slot_window_last_slot(windows->forward, state->slots);
            order->gathers[row + last] = blocks;
        }
        if (windows->backward.length > 0 && !order->kept[i]) {
            const int32_t last =
                yk_transfer_order_slot_window_last_slot(windows->backward, state->slots);
            order->gathers[row + last] = blocks;
        }
    }
    derive(state);
}

void yk_transfer_order_draft_set_order(struct yk_transfer_order_draft *state,
                                       const struct yk_transfer_order *order)
{
    yk_transfer_order_copy(state->problem, order, state->order);
    derive(state);
}

double yk_transfer_order_draft_step_s(const struct yk_transfer_order_draft *state)
{
    return yk_transfer_order_compute_step_s(state->problem, state->load_s);
}

/* Each block is gathered in a later slot than it is scattered in. */
static bool keeps_blocks_apart(const struct yk_transfer_order_draft *state, int32_t op,
                               int32_t slot, int32_t direction)
{
    const int64_t row = (int64_t)(op >> 1) * state->slots;
    if (yk_transfer_order_op_is_all_gather(op) == (direction > 0)) {
        return true;
    }
    if (direction < 0) {
        const int32_t to = yk_transfer_order_shift_slot(state->slots, slot, -1);
        const int32_t before = yk_transfer_order_shift_slot(state->slots, slot, -2);
        return state->gathered[row + to] < state->scattered[row + before];
    }
    const int32_t to = yk_transfer_order_shift_slot(state->slots, slot, 1);
    return state->windows[op >> 1].forward.length == 0 ||
           state->scattered[row + slot] > state->gathered[row + to];
}

bool yk_transfer_order_draft_may_move_block(const struct yk_transfer_order_draft *state, int32_t op,
                                            int32_t slot, int32_t direction, int32_t *out_reach)
{
    const int32_t layer = op >> 1;
    const bool gather = yk_transfer_order_op_is_all_gather(op);
    const bool inside =
        gather && yk_transfer_order_slot_is_between_passes(state->problem, layer, slot);
    const struct yk_transfer_order_layer_windows *windows = &state->windows[layer];
    const struct yk_transfer_order_slot_window window = !gather  ? windows->scatter
                                                        : inside ? windows->backward
                                                                 : windows->forward;
    const int32_t at = yk_transfer_order_shift_slot(state->slots, slot, -window.first);
    const int32_t reach = direction > 0 ? window.length - 1 - at : at;
    *out_reach = reach;
    return reach > 0 && (inside || keeps_blocks_apart(state, op, slot, direction));
}

void yk_transfer_order_draft_move_block(struct yk_transfer_order_draft *state, int32_t op,
                                        int32_t slot, int32_t direction)
{
    const int32_t layer = op >> 1;
    const int64_t row = (int64_t)layer * state->slots;
    const int32_t to = yk_transfer_order_shift_slot(state->slots, slot, direction);
    const struct yk_transfer_order_op *moved = &state->ops[op];
    (*yk_transfer_order_draft_block_count_pointer(state, op, slot))--;
    (*yk_transfer_order_draft_block_count_pointer(state, op, to))++;
    set_present(state, op, slot);
    set_present(state, op, to);
    state->load_s[slot] -= moved->block_s;
    state->load_s[to] += moved->block_s;
    const int32_t earlier = direction > 0 ? slot : to;
    if (yk_transfer_order_op_is_all_gather(op)) {
        state->used_bytes[earlier] -= direction * moved->block_bytes;
        if (!yk_transfer_order_slot_is_between_passes(state->problem, layer, slot)) {
            state->gathered[row + earlier] -= direction;
        }
    } else {
        const int32_t later = direction > 0 ? to : slot;
        state->used_bytes[later] += direction * moved->block_bytes;
        state->scattered[row + earlier] -= direction;
    }
}
