#include "planner/order/sort.h"

#include "planner/order/slots.h"

#include <string.h>

struct tidy {
    const struct yk_order_problem *problem;
    struct yk_order *order;
    int32_t slots;
    int32_t *sizes;     /* (n) the first layer with blocks of this size */
    int32_t *counts;    /* (slots) blocks of one size to hand out again */
    int32_t *left;      /* (n) blocks still to be gathered */
    int32_t *scattered; /* (n) blocks so far */
};

static bool has_same_blocks(const struct yk_order_layer *a, const struct yk_order_layer *b)
{
    return a->gather_s / a->blocks == b->gather_s / b->blocks &&
           a->weight_bytes / a->blocks == b->weight_bytes / b->blocks &&
           yk_order_counts_weights(a->choice) == yk_order_counts_weights(b->choice);
}

static int32_t *cell(const struct tidy *tidy, int32_t layer, int32_t slot)
{
    return &tidy->order->gathers[(int64_t)layer * tidy->slots + slot];
}

/* Takes all gathers of this size, for backward or for forward, out of their slots. */
static void collect(const struct tidy *tidy, int32_t size, bool backward)
{
    memset(tidy->counts, 0, (size_t)tidy->slots * sizeof *tidy->counts);
    for (int32_t i = 0; i < tidy->problem->layer_count; i++) {
        tidy->left[i] = 0;
        tidy->scattered[i] = 0;
        for (int32_t t = 0; tidy->sizes[i] == size && t < tidy->slots; t++) {
            int32_t *blocks = cell(tidy, i, t);
            if (*blocks > 0 && yk_order_slot_is_inside(tidy->problem, i, t) == backward) {
                tidy->counts[t] += *blocks;
                tidy->left[i] += *blocks;
                *blocks = 0;
            }
        }
    }
}

/* Gives as many of the slot's blocks as may be to the layer. */
static void hand_out(const struct tidy *tidy, int32_t layer, int32_t slot, int32_t most)
{
    const int32_t left = tidy->left[layer] < most ? tidy->left[layer] : most;
    const int32_t given = left < tidy->counts[slot] ? left : tidy->counts[slot];
    *cell(tidy, layer, slot) += given;
    tidy->left[layer] -= given;
    tidy->counts[slot] -= given;
}

/* Backward uses the last layers first. */
static void tidy_backward(const struct tidy *tidy, int32_t size)
{
    const int32_t n = tidy->problem->layer_count;
    collect(tidy, size, true);
    for (int32_t t = 1; t < 2 * n; t++) {
        for (int32_t i = n - 1; i >= 0 && tidy->counts[t] > 0; i--) {
            if (yk_order_slot_is_inside(tidy->problem, i, t)) {
                hand_out(tidy, i, t, tidy->left[i]);
            }
        }
    }
}

/* Forward uses the first layers first, each block after it is scattered. */
static void tidy_forward(const struct tidy *tidy, int32_t size)
{
    const struct yk_order_problem *problem = tidy->problem;
    const int32_t n = problem->layer_count;
    collect(tidy, size, false);
    for (int32_t k = 1; k < tidy->slots; k++) {
        const int32_t t = yk_order_slot_after(tidy->slots, n, k);
        for (int32_t i = 0; i < n && tidy->counts[t] > 0; i++) {
            const int32_t gathered = problem->layers[i].blocks - tidy->left[i];
            if (tidy->left[i] > 0 &&
                yk_order_window_has(yk_order_forward_window(problem, i), tidy->slots, t)) {
                hand_out(tidy, i, t, tidy->scattered[i] - gathered);
            }
        }
        for (int32_t i = 0; i < n; i++) {
            tidy->scattered[i] += tidy->order->scatters[(int64_t)i * tidy->slots + t];
        }
    }
}

yk_status yk_order_sort_gathers(const struct yk_order_problem *problem, struct yk_order *order,
                                struct yk_arena *arena)
{
    const int32_t n = problem->layer_count;
    struct tidy tidy = {.problem = problem, .order = order, .slots = yk_order_slot_count(problem)};
    YK_TRY_NEW(arena, tidy.sizes, n);
    YK_TRY_NEW(arena, tidy.counts, tidy.slots);
    YK_TRY_NEW(arena, tidy.left, n);
    YK_TRY_NEW(arena, tidy.scattered, n);
    for (int32_t i = 0; i < n; i++) {
        while (!has_same_blocks(&problem->layers[tidy.sizes[i]], &problem->layers[i])) {
            tidy.sizes[i]++;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        bool shared = false;
        for (int32_t j = i + 1; tidy.sizes[i] == i && j < n; j++) {
            shared = shared || tidy.sizes[j] == i;
        }
        if (shared) {
            tidy_backward(&tidy, i);
            tidy_forward(&tidy, i);
        }
    }
    return YK_OK;
}
