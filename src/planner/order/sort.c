/*
 * Sort: exchanges all-gathers of equal size between slots so that they run in the order of their
 * use. Blocks of one size are unit jobs with release times and deadlines, for which earliest
 * deadline first is optimal.
 */
#include "planner/order/transfer_order.h"

#include "planner/order/slot_window.h"

#include <string.h>

struct sorting {
    const struct yk_transfer_order_problem *problem;
    struct yk_transfer_order *order;
    int32_t slots;
    int32_t *sizes;     /* (n) the first layer with blocks of this size */
    int32_t *counts;    /* (slots) blocks of one size to assign to layers */
    int32_t *left;      /* (n) blocks still to be gathered */
    int32_t *scattered; /* (n) blocks scattered so far */
};

static bool has_same_blocks(const struct yk_transfer_order_layer *a,
                            const struct yk_transfer_order_layer *b)
{
    return a->gather_s / a->blocks == b->gather_s / b->blocks &&
           a->weight_bytes / a->blocks == b->weight_bytes / b->blocks &&
           yk_transfer_order_sharding_frees_weights(a->choice) ==
               yk_transfer_order_sharding_frees_weights(b->choice);
}

static int32_t *cell(const struct sorting *sorting, int32_t layer, int32_t slot)
{
    return &sorting->order->gathers[(int64_t)layer * sorting->slots + slot];
}

/* Removes all gathers of this size, for backward or for forward, from the order. */
static void collect(const struct sorting *sorting, int32_t size, bool backward)
{
    memset(sorting->counts, 0, (size_t)sorting->slots * sizeof *sorting->counts);
    for (int32_t i = 0; i < sorting->problem->layer_count; i++) {
        sorting->left[i] = 0;
        sorting->scattered[i] = 0;
        for (int32_t t = 0; sorting->sizes[i] == size && t < sorting->slots; t++) {
            int32_t *blocks = cell(sorting, i, t);
            if (*blocks > 0 &&
                yk_transfer_order_slot_is_between_passes(sorting->problem, i, t) == backward) {
                sorting->counts[t] += *blocks;
                sorting->left[i] += *blocks;
                *blocks = 0;
            }
        }
    }
}

/* Assigns as many of the slot's blocks as possible to the layer, at most `max`. */
static void assign(const struct sorting *sorting, int32_t layer, int32_t slot, int32_t max)
{
    const int32_t left = sorting->left[layer] < max ? sorting->left[layer] : max;
    const int32_t given = left < sorting->counts[slot] ? left : sorting->counts[slot];
    *cell(sorting, layer, slot) += given;
    sorting->left[layer] -= given;
    sorting->counts[slot] -= given;
}

/* Backward uses the last layers first. */
static void sort_backward(const struct sorting *sorting, int32_t size)
{
    const int32_t n = sorting->problem->layer_count;
    collect(sorting, size, true);
    for (int32_t t = 1; t < 2 * n; t++) {
        for (int32_t i = n - 1; i >= 0 && sorting->counts[t] > 0; i--) {
            if (yk_transfer_order_slot_is_between_passes(sorting->problem, i, t)) {
                assign(sorting, i, t, sorting->left[i]);
            }
        }
    }
}

/* Forward uses the first layers first, each block after it is scattered. */
static void sort_forward(const struct sorting *sorting, int32_t size)
{
    const struct yk_transfer_order_problem *problem = sorting->problem;
    const int32_t n = problem->layer_count;
    collect(sorting, size, false);
    for (int32_t k = 1; k < sorting->slots; k++) {
        const int32_t t = yk_transfer_order_shift_slot(sorting->slots, n, k);
        for (int32_t i = 0; i < n && sorting->counts[t] > 0; i++) {
            const int32_t gathered = problem->layers[i].blocks - sorting->left[i];
            if (sorting->left[i] > 0 &&
                yk_transfer_order_slot_window_contains(
                    yk_transfer_order_forward_gather_window(problem, i), sorting->slots, t)) {
                assign(sorting, i, t, sorting->scattered[i] - gathered);
            }
        }
        for (int32_t i = 0; i < n; i++) {
            sorting->scattered[i] += sorting->order->scatters[(int64_t)i * sorting->slots + t];
        }
    }
}

yk_status yk_transfer_order_sort_gathers(const struct yk_transfer_order_problem *problem,
                                         struct yk_transfer_order *order, struct yk_arena *arena)
{
    const int32_t n = problem->layer_count;
    struct sorting sorting = {
        .problem = problem, .order = order, .slots = yk_transfer_order_slot_count(problem)};
    YK_TRY_NEW(arena, sorting.sizes, n);
    YK_TRY_NEW(arena, sorting.counts, sorting.slots);
    YK_TRY_NEW(arena, sorting.left, n);
    YK_TRY_NEW(arena, sorting.scattered, n);
    for (int32_t i = 0; i < n; i++) {
        while (!has_same_blocks(&problem->layers[sorting.sizes[i]], &problem->layers[i])) {
            sorting.sizes[i]++;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        bool shared = false;
        for (int32_t j = i + 1; sorting.sizes[i] == i && j < n; j++) {
            shared = shared || sorting.sizes[j] == i;
        }
        if (shared) {
            sort_backward(&sorting, i);
            sort_forward(&sorting, i);
        }
    }
    return YK_OK;
}
