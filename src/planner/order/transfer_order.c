#include "planner/order/transfer_order.h"

#include "base/units.h"
#include "planner/order/slot_window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void yk_transfer_order_format_slot_name(const struct yk_transfer_order_problem *problem,
                                        int32_t slot, char out[YK_TRANSFER_ORDER_SLOT_NAME_SIZE])
{
    const int32_t n = problem->layer_count;
    const char *gap = slot == n ? "middle" : (slot == 2 * n + 1 ? "end" : "begin");
    if (slot < n) {
        snprintf(out, YK_TRANSFER_ORDER_SLOT_NAME_SIZE, "forward %d", slot);
    } else if (slot > n && slot <= 2 * n) {
        snprintf(out, YK_TRANSFER_ORDER_SLOT_NAME_SIZE, "backward %d", 2 * n - slot);
    } else {
        snprintf(out, YK_TRANSFER_ORDER_SLOT_NAME_SIZE, "%s", gap);
    }
}

yk_status yk_transfer_order_create_empty(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena, struct yk_transfer_order **out)
{
    const size_t n = (size_t)problem->layer_count;
    const size_t slots = (size_t)yk_transfer_order_slot_count(problem);
    struct yk_transfer_order *order = NULL;
    YK_TRY_NEW(arena, order, 1);
    YK_TRY_NEW(arena, order->kept, n);
    YK_TRY_NEW(arena, order->scatters, n * slots);
    YK_TRY_NEW(arena, order->gathers, n * slots);
    *out = order;
    return YK_OK;
}

void yk_transfer_order_copy(const struct yk_transfer_order_problem *problem,
                            const struct yk_transfer_order *from, struct yk_transfer_order *to)
{
    const size_t n = (size_t)problem->layer_count;
    const size_t cells = n * (size_t)yk_transfer_order_slot_count(problem);
    memcpy(to->kept, from->kept, n * sizeof *to->kept);
    memcpy(to->scatters, from->scatters, cells * sizeof *to->scatters);
    memcpy(to->gathers, from->gathers, cells * sizeof *to->gathers);
    to->step_s = from->step_s;
    to->bound_s = from->bound_s;
    to->method = from->method;
}

void yk_transfer_order_compute_slot_link_times(const struct yk_transfer_order_problem *problem,
                                               const struct yk_transfer_order *order, double *out_s)
{
    const int32_t slots = yk_transfer_order_slot_count(problem);
    memset(out_s, 0, (size_t)slots * sizeof *out_s);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        const int32_t *scatters = &order->scatters[(int64_t)i * slots];
        const int32_t *gathers = &order->gathers[(int64_t)i * slots];
        for (int32_t t = 0; t < slots; t++) {
            out_s[t] += (layer->scatter_s * scatters[t] + layer->gather_s * gathers[t]) /
                        (double)layer->blocks;
        }
    }
}

/* A gradient block is in memory from the layer's backward through the slot it is scattered in. */
static void add_gradients(const struct yk_transfer_order_problem *problem,
                          const struct yk_transfer_order *order, int32_t layer, double *out_bytes)
{
    const int32_t slots = yk_transfer_order_slot_count(problem);
    const struct yk_transfer_order_slot_window gap =
        yk_transfer_order_backward_to_forward_window(problem, layer);
    const struct yk_transfer_order_layer *described = &problem->layers[layer];
    const double block_bytes = described->gradient_bytes / described->blocks;
    int32_t pending = described->blocks;
    out_bytes[yk_transfer_order_backward_slot(problem, layer)] += described->gradient_bytes;
    for (int32_t k = 0; k < gap.length; k++) {
        const int32_t t = yk_transfer_order_shift_slot(slots, gap.first, k);
        out_bytes[t] += block_bytes * pending;
        pending -= order->scatters[(int64_t)layer * slots + t];
    }
}

static void add_weights(const struct yk_transfer_order_problem *problem,
                        const struct yk_transfer_order *order, int32_t layer, double *out_bytes)
{
    const int32_t slots = yk_transfer_order_slot_count(problem);
    const struct yk_transfer_order_slot_window gap =
        yk_transfer_order_backward_to_forward_window(problem, layer);
    const struct yk_transfer_order_layer *described = &problem->layers[layer];
    const double block_bytes = described->weight_bytes / described->blocks;
    const int32_t *gathers = &order->gathers[(int64_t)layer * slots];
    int32_t gathered = 0;
    for (int32_t k = 0; k < gap.length; k++) {
        const int32_t t = yk_transfer_order_shift_slot(slots, gap.first, k);
        gathered += gathers[t];
        out_bytes[t] += block_bytes * gathered;
    }
    out_bytes[layer] += described->weight_bytes;
    gathered = order->kept[layer] ? described->blocks : 0;
    for (int32_t t = layer + 1; t < yk_transfer_order_backward_slot(problem, layer); t++) {
        gathered += gathers[t];
        out_bytes[t] += block_bytes * gathered;
    }
    out_bytes[yk_transfer_order_backward_slot(problem, layer)] += described->weight_bytes;
}

void yk_transfer_order_compute_slot_memory(const struct yk_transfer_order_problem *problem,
                                           const struct yk_transfer_order *order, double *out_bytes)
{
    memset(out_bytes, 0, (size_t)yk_transfer_order_slot_count(problem) * sizeof *out_bytes);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const enum yk_transfer_order_sharding choice = problem->layers[i].choice;
        if (choice != YK_TRANSFER_ORDER_NO_COMMUNICATION) {
            add_gradients(problem, order, i, out_bytes);
        }
        if (yk_transfer_order_sharding_frees_weights(choice)) {
            add_weights(problem, order, i, out_bytes);
        }
    }
}

double yk_transfer_order_add_memory_tolerance(double room_bytes)
{
    /* A tolerance for rounding errors, less than one byte. */
    return room_bytes + fmin(0.5, 1e-9 * fabs(room_bytes));
}

double yk_transfer_order_compute_step_s(const struct yk_transfer_order_problem *problem,
                                        const double *load_s)
{
    double step_s = 0;
    for (int32_t t = 0; t < yk_transfer_order_slot_count(problem); t++) {
        step_s += fmax(problem->compute_s[t], load_s[t]);
    }
    return step_s;
}

yk_status yk_transfer_order_check_slot_memory(const struct yk_transfer_order_problem *problem,
                                              const double *used_bytes)
{
    char name[YK_TRANSFER_ORDER_SLOT_NAME_SIZE];
    int32_t worst = 0;
    for (int32_t t = 1; t < yk_transfer_order_slot_count(problem); t++) {
        if (used_bytes[t] - problem->room_bytes[t] >
            used_bytes[worst] - problem->room_bytes[worst]) {
            worst = t;
        }
    }
    if (used_bytes[worst] <= yk_transfer_order_add_memory_tolerance(problem->room_bytes[worst])) {
        return YK_OK;
    }
    yk_transfer_order_format_slot_name(problem, worst, name);
    return yk_fail(
        YK_ERROR_NO_FIT,
        "%s lacks %s of memory beyond the %s there is for gathered parameters and "
        "gradients",
        name,
        YK_UNITS_FORMAT_TEMPORARY(used_bytes[worst] - problem->room_bytes[worst], YK_UNIT_BYTES),
        YK_UNITS_FORMAT_TEMPORARY(fmax(0, problem->room_bytes[worst]), YK_UNIT_BYTES));
}

/* An order with its problem. */
struct place {
    const struct yk_transfer_order_problem *problem;
    const struct yk_transfer_order *order;
    int32_t slots;
};

static int32_t sum(const int32_t *blocks, int32_t slots,
                   struct yk_transfer_order_slot_window window)
{
    int32_t count = 0;
    for (int32_t k = 0; k < window.length; k++) {
        count += blocks[yk_transfer_order_shift_slot(slots, window.first, k)];
    }
    return count;
}

static yk_status check_choice(const struct place *place, int32_t layer)
{
    const enum yk_transfer_order_sharding choice = place->problem->layers[layer].choice;
    const bool kept = place->order->kept[layer];
    if (kept && choice != YK_TRANSFER_ORDER_KEPT && choice != YK_TRANSFER_ORDER_UNDECIDED) {
        return yk_fail(YK_ERROR_INPUT, "layer %d cannot be kept", layer);
    }
    if (!kept && choice == YK_TRANSFER_ORDER_KEPT) {
        return yk_fail(YK_ERROR_INPUT, "layer %d must be kept", layer);
    }
    return YK_OK;
}

/* The windows in which the order must have all blocks of the layer. */
static struct yk_transfer_order_layer_windows windows_of(const struct place *place, int32_t layer)
{
    struct yk_transfer_order_layer_windows windows =
        yk_transfer_order_layer_windows(place->problem, layer);
    windows.backward.length = place->order->kept[layer] ? 0 : windows.backward.length;
    return windows;
}

/* Checks that blocks are in allowed slots, and not negative. */
static yk_status check_slots(const struct place *place, int32_t layer)
{
    const struct yk_transfer_order_problem *problem = place->problem;
    const struct yk_transfer_order_layer_windows windows = windows_of(place, layer);
    for (int32_t t = 0; t < place->slots; t++) {
        const int64_t cell = (int64_t)layer * place->slots + t;
        const int32_t scatters = place->order->scatters[cell];
        const int32_t gathers = place->order->gathers[cell];
        char name[YK_TRANSFER_ORDER_SLOT_NAME_SIZE];
        yk_transfer_order_format_slot_name(problem, t, name);
        if (scatters < 0 || gathers < 0) {
            return yk_fail(YK_ERROR_INPUT, "layer %d has a negative number of blocks in slot %s",
                           layer, name);
        }
        if (scatters > 0 &&
            !yk_transfer_order_slot_window_contains(windows.scatter, place->slots, t)) {
            return yk_fail(YK_ERROR_INPUT, "layer %d cannot %s in slot %s", layer,
                           problem->layers[layer].choice == YK_TRANSFER_ORDER_REPLICATED
                               ? "be reduced"
                               : "be scattered",
                           name);
        }
        if (gathers > 0 &&
            !yk_transfer_order_slot_window_contains(windows.forward, place->slots, t) &&
            !yk_transfer_order_slot_window_contains(windows.backward, place->slots, t)) {
            return yk_fail(YK_ERROR_INPUT, "layer %d cannot be gathered in slot %s", layer, name);
        }
    }
    return YK_OK;
}

static yk_status check_sum(const struct place *place, int32_t layer, const char *what,
                           const int32_t *all_blocks, struct yk_transfer_order_slot_window window)
{
    const int32_t blocks = place->problem->layers[layer].blocks;
    const int32_t found = sum(&all_blocks[(int64_t)layer * place->slots], place->slots, window);
    if (window.length > 0 && found != blocks) {
        return yk_fail(YK_ERROR_INPUT, "%d of the %d blocks of layer %d are %s", found, blocks,
                       layer, what);
    }
    return YK_OK;
}

/* Checks that every block is transferred once by each of its collectives. */
static yk_status check_sums(const struct place *place, int32_t layer)
{
    const struct yk_transfer_order *order = place->order;
    const struct yk_transfer_order_layer_windows windows = windows_of(place, layer);
    const bool reduced = place->problem->layers[layer].choice == YK_TRANSFER_ORDER_REPLICATED;
    YK_TRY(check_sum(place, layer, reduced ? "reduced" : "scattered", order->scatters,
                     windows.scatter));
    YK_TRY(check_sum(place, layer, "gathered for forward", order->gathers, windows.forward));
    return check_sum(place, layer, "gathered for backward", order->gathers, windows.backward);
}

static yk_status check_apart(const struct place *place, int32_t layer)
{
    const struct yk_transfer_order_slot_window gap =
        yk_transfer_order_backward_to_forward_window(place->problem, layer);
    int32_t scattered = 0;
    int32_t gathered = 0;
    for (int32_t k = 0; k < gap.length && yk_transfer_order_sharding_reduce_scatters(
                                              place->problem->layers[layer].choice);
         k++) {
        const int32_t t = yk_transfer_order_shift_slot(place->slots, gap.first, k);
        const int64_t cell = (int64_t)layer * place->slots + t;
        gathered += place->order->gathers[cell];
        if (gathered > scattered) {
            char name[YK_TRANSFER_ORDER_SLOT_NAME_SIZE];
            yk_transfer_order_format_slot_name(place->problem, t, name);
            return yk_fail(YK_ERROR_INPUT,
                           "layer %d has %d blocks gathered up to slot %s, but only %d scattered "
                           "before it",
                           layer, gathered, name, scattered);
        }
        scattered += place->order->scatters[cell];
    }
    return YK_OK;
}

static yk_status check_memory(const struct place *place, struct yk_arena *arena, double *out_s)
{
    double *sums = NULL;
    YK_TRY_NEW(arena, sums, place->slots);
    yk_transfer_order_compute_slot_memory(place->problem, place->order, sums);
    YK_TRY(yk_transfer_order_check_slot_memory(place->problem, sums));
    yk_transfer_order_compute_slot_link_times(place->problem, place->order, sums);
    *out_s = yk_transfer_order_compute_step_s(place->problem, sums);
    return YK_OK;
}

yk_status yk_transfer_order_check(const struct yk_transfer_order_problem *problem,
                                  const struct yk_transfer_order *order, double *out_s)
{
    const struct place place = {problem, order, yk_transfer_order_slot_count(problem)};
    for (int32_t i = 0; i < problem->layer_count; i++) {
        YK_TRY(check_choice(&place, i));
        YK_TRY(check_slots(&place, i));
        YK_TRY(check_sums(&place, i));
        YK_TRY(check_apart(&place, i));
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, check_memory(&place, arena, out_s));
    return YK_OK;
}

struct list {
    const struct place *place;
    struct yk_plan_transfer *transfers; /* NULL means: only count them */
    int32_t count;
};

static void add_transfer(struct list *list, enum yk_transfer_kind kind, int32_t layer,
                         struct yk_transfer_order_slot_window window, int32_t slot)
{
    const struct place *place = list->place;
    const int64_t row = (int64_t)layer * place->slots;
    const int32_t *blocks =
        kind == YK_TRANSFER_ALL_GATHER ? &place->order->gathers[row] : &place->order->scatters[row];
    if (window.length == 0 || blocks[slot] == 0) {
        return;
    }
    if (list->transfers) {
        /* Blocks are numbered in the order of the slots of the window. */
        window.length = yk_transfer_order_shift_slot(place->slots, slot, -window.first);
        list->transfers[list->count] = (struct yk_plan_transfer){
            .kind = kind,
            .layer = layer,
            .first_block = sum(blocks, place->slots, window),
            .block_count = blocks[slot],
            .slot = slot,
        };
    }
    list->count++;
}

/* Adds reduce-scatters and all-reduces in the order of backward. */
static void add_scatters(struct list *list, int32_t slot)
{
    const struct yk_transfer_order_problem *problem = list->place->problem;
    for (int32_t i = problem->layer_count - 1; i >= 0; i--) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        if (layer->gradient_bytes > 0 || layer->scatter_s > 0) {
            add_transfer(list,
                         layer->choice == YK_TRANSFER_ORDER_REPLICATED ? YK_TRANSFER_ALL_REDUCE
                                                                       : YK_TRANSFER_REDUCE_SCATTER,
                         i, yk_transfer_order_reduce_window(problem, i), slot);
        }
    }
}

/* Adds all-gathers in the order of use. */
static void add_gathers(struct list *list, int32_t slot)
{
    const struct yk_transfer_order_problem *problem = list->place->problem;
    const int32_t n = problem->layer_count;
    for (int32_t k = 1; k < list->place->slots; k++) {
        const int32_t use = yk_transfer_order_shift_slot(list->place->slots, slot, k);
        if (use < n && !yk_transfer_order_slot_is_between_passes(problem, use, slot)) {
            add_transfer(list, YK_TRANSFER_ALL_GATHER, use,
                         yk_transfer_order_forward_gather_window(problem, use), slot);
        } else if (use > n && use <= 2 * n &&
                   yk_transfer_order_slot_is_between_passes(problem, 2 * n - use, slot)) {
            add_transfer(list, YK_TRANSFER_ALL_GATHER, 2 * n - use,
                         yk_transfer_order_backward_gather_window(problem, 2 * n - use), slot);
        }
    }
}

static void add_transfers(struct list *list)
{
    list->count = 0;
    for (int32_t t = 0; t < list->place->slots; t++) {
        add_scatters(list, t);
        add_gathers(list, t);
    }
}

yk_status yk_transfer_order_to_plan_transfers(const struct yk_transfer_order_problem *problem,
                                              const struct yk_transfer_order *order,
                                              struct yk_arena *arena, struct yk_plan_transfer **out,
                                              int32_t *out_count)
{
    const struct place place = {problem, order, yk_transfer_order_slot_count(problem)};
    struct list list = {.place = &place};
    struct yk_plan_transfer *transfers = NULL;
    add_transfers(&list);
    YK_TRY_NEW(arena, transfers, list.count);
    list.transfers = transfers;
    add_transfers(&list);
    *out = transfers;
    *out_count = list.count;
    return YK_OK;
}
