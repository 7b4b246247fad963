/* Bound: lower bounds of the step time, for blocks of any size. */
#include "planner/order/transfer_order.h"

#include "planner/order/slot_window.h"

#include <math.h>
#include <stdlib.h>

/* Seconds that a layer's gradients and its forward gather take. */
static double gap_s(const struct yk_transfer_order_layer *layer)
{
    if (layer->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION) {
        return 0;
    }
    return layer->scatter_s +
           (yk_transfer_order_sharding_reduce_scatters(layer->choice) ? layer->gather_s : 0);
}

/* Layers that save most seconds per byte come first. */
static int compare_density(const void *a, const void *b)
{
    const struct yk_transfer_order_layer *x = *(const struct yk_transfer_order_layer *const *)a;
    const struct yk_transfer_order_layer *y = *(const struct yk_transfer_order_layer *const *)b;
    const double p = x->gather_s * y->weight_bytes;
    const double q = y->gather_s * x->weight_bytes;
    return (p < q) - (p > q);
}

/* Upper bound of the seconds that keeping layers can save, given the room in this slot (fractional
 * knapsack). `open` holds the undecided layers, sorted by compare_density(). */
static double saved_by_keeping(const struct yk_transfer_order_problem *problem,
                               const struct yk_transfer_order_layer *const *open, int32_t count,
                               int32_t slot, double room_bytes)
{
    double saved_s = 0;
    for (int32_t k = 0; k < count; k++) {
        const int32_t layer = (int32_t)(open[k] - problem->layers);
        const double bytes = open[k]->weight_bytes;
        /* In the slot before its backward, the layer is gathered anyway. */
        if (slot <= layer || slot >= yk_transfer_order_backward_slot(problem, layer) - 1) {
            saved_s += open[k]->gather_s;
            continue;
        }
        saved_s += open[k]->gather_s * (bytes <= room_bytes ? 1 : room_bytes / bytes);
        room_bytes = fmax(0, room_bytes - bytes);
    }
    return saved_s;
}

/* All communication, with as much kept as the tightest slot allows. */
static yk_status sum_communication(const struct yk_transfer_order_problem *problem,
                                   const double *min_bytes, struct yk_arena *arena, double *out_s)
{
    const struct yk_transfer_order_layer **open = NULL;
    int32_t count = 0;
    double sum_s = 0;
    double saved_s = INFINITY;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, open, problem->layer_count);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        sum_s += gap_s(layer);
        if (layer->choice == YK_TRANSFER_ORDER_UNDECIDED ||
            layer->choice == YK_TRANSFER_ORDER_FULLY_SHARDED) {
            sum_s += layer->gather_s;
        }
        if (layer->choice == YK_TRANSFER_ORDER_UNDECIDED) {
            open[count++] = layer;
        }
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    qsort(open, (size_t)count, sizeof *open, compare_density);
    for (int32_t t = 0; t < yk_transfer_order_slot_count(problem); t++) {
        const double room_bytes = fmax(0, problem->room_bytes[t] - min_bytes[t]);
        saved_s = fmin(saved_s, saved_by_keeping(problem, open, count, t, room_bytes));
    }
    *out_s = sum_s - saved_s;
    return YK_OK;
}

/*
 * What is exposed around the step's end: the first layers' scatters and gathers have few slots,
 * between backward and forward of the next layer, and these compute only so long. A barrier parts
 * them: scatters cannot go behind it, gathers not before.
 */
static double exposed_at_end(const struct yk_transfer_order_problem *problem)
{
    const int32_t slots = yk_transfer_order_slot_count(problem);
    double scatters_s = 0;
    double gathers_s = 0;
    double max_scatters_s = 0;
    double max_gathers_s = 0;
    double max_s = 0;
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        scatters_s += layer->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION ? 0 : layer->scatter_s;
        gathers_s +=
            yk_transfer_order_sharding_reduce_scatters(layer->choice) ? layer->gather_s : 0;
        max_scatters_s = fmax(max_scatters_s, scatters_s);
        max_gathers_s = fmax(max_gathers_s, gathers_s);
        max_s = fmax(max_s, scatters_s + gathers_s);
        scatters_s -= problem->compute_s[yk_transfer_order_backward_slot(problem, i)];
        gathers_s -= problem->compute_s[i];
    }
    return (problem->barrier ? max_scatters_s + max_gathers_s : max_s) -
           problem->compute_s[slots - 2] - problem->compute_s[slots - 1];
}

yk_status yk_transfer_order_bound_simple(const struct yk_transfer_order_problem *problem,
                                         const double *min_bytes, struct yk_arena *arena,
                                         double *out_s)
{
    double compute_s = 0;
    double communicate_s = 0;
    for (int32_t t = 0; t < yk_transfer_order_slot_count(problem); t++) {
        compute_s += problem->compute_s[t];
    }
    YK_TRY(sum_communication(problem, min_bytes, arena, &communicate_s));
    *out_s = fmax(communicate_s, compute_s + fmax(0, exposed_at_end(problem)));
    return YK_OK;
}

/* Prices, with sums of those of memory, from slot 0 over two rounds of the cycle. */
struct prices {
    int32_t slots;
    const double *link;
    double *memory_sums; /* (2 slots + 1) */
};

/* Of one byte from slot `first` on, `length` slots long. */
static double memory_price(const struct prices *prices, int32_t first, int32_t length)
{
    return prices->memory_sums[first + length] - prices->memory_sums[first];
}

/* The cheapest reduction of a replicated layer, or scatter and later gather of any other one. */
static double cheapest_gap(const struct yk_transfer_order_problem *problem,
                           const struct prices *prices, int32_t layer)
{
    const struct yk_transfer_order_layer *described = &problem->layers[layer];
    const struct yk_transfer_order_slot_window gap =
        yk_transfer_order_backward_to_forward_window(problem, layer);
    const struct yk_transfer_order_slot_window scatter =
        yk_transfer_order_reduce_window(problem, layer);
    const struct yk_transfer_order_slot_window forward =
        yk_transfer_order_forward_gather_window(problem, layer);
    const double weight_bytes =
        yk_transfer_order_sharding_frees_weights(described->choice) ? described->weight_bytes : 0;
    double scattered = INFINITY;
    double both = INFINITY;
    for (int32_t k = 0; k < gap.length; k++) {
        const int32_t t = yk_transfer_order_shift_slot(prices->slots, gap.first, k);
        if (forward.length > 0 &&
            yk_transfer_order_slot_window_contains(forward, prices->slots, t)) {
            both = fmin(both, scattered + described->gather_s * prices->link[t] +
                                  weight_bytes * memory_price(prices, t, gap.length - k));
        }
        if (yk_transfer_order_slot_window_contains(scatter, prices->slots, t)) {
            scattered = fmin(scattered, described->scatter_s * prices->link[t] +
                                            described->gradient_bytes *
                                                memory_price(prices, gap.first, k + 1));
        }
    }
    return forward.length > 0 ? both : scattered;
}

/* The cheapest way from forward to backward. */
static double cheapest_inside(const struct yk_transfer_order_problem *problem,
                              const struct prices *prices, int32_t layer)
{
    const struct yk_transfer_order_layer *described = &problem->layers[layer];
    const struct yk_transfer_order_slot_window backward =
        yk_transfer_order_backward_gather_window(problem, layer);
    const int32_t last = yk_transfer_order_backward_slot(problem, layer);
    const bool may_keep = described->choice == YK_TRANSFER_ORDER_UNDECIDED ||
                          described->choice == YK_TRANSFER_ORDER_KEPT;
    double cheapest = INFINITY;
    if (may_keep) {
        cheapest = described->weight_bytes * memory_price(prices, layer + 1, last - layer - 1);
    }
    for (int32_t t = backward.first; t < backward.first + backward.length; t++) {
        cheapest = fmin(cheapest, described->gather_s * prices->link[t] +
                                      described->weight_bytes * memory_price(prices, t, last - t));
    }
    return cheapest;
}

yk_status yk_transfer_order_bound_from_prices(const struct yk_transfer_order_problem *problem,
                                              const double *link_prices,
                                              const double *memory_prices, struct yk_arena *arena,
                                              double *out_s)
{
    struct prices prices = {.slots = yk_transfer_order_slot_count(problem), .link = link_prices};
    double sum_s = 0;
    YK_TRY_NEW(arena, prices.memory_sums, 2 * prices.slots + 1);
    for (int32_t t = 0; t < 2 * prices.slots; t++) {
        prices.memory_sums[t + 1] = prices.memory_sums[t] + memory_prices[t % prices.slots];
    }
    for (int32_t t = 0; t < prices.slots; t++) {
        sum_s += problem->compute_s[t] * (1 - link_prices[t]);
        sum_s -= memory_prices[t] * problem->room_bytes[t];
    }
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        const int32_t backward = yk_transfer_order_backward_slot(problem, i);
        if (layer->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION) {
            continue;
        }
        sum_s += cheapest_gap(problem, &prices, i);
        sum_s += layer->gradient_bytes * memory_prices[backward];
        if (yk_transfer_order_sharding_frees_weights(layer->choice)) {
            sum_s += layer->weight_bytes * (memory_prices[i] + memory_prices[backward]);
            sum_s += cheapest_inside(problem, &prices, i);
        }
    }
    *out_s = sum_s;
    return YK_OK;
}
