#include "planner/order/sums.h"

#include "base/units.h"
#include "planner/order/slots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void yk_order_slot_name(const struct yk_order_problem *problem, int32_t slot,
                        char out[YK_ORDER_SLOT_NAME_SIZE])
{
    const int32_t n = problem->layer_count;
    const char *gap = slot == n ? "middle" : (slot == 2 * n + 1 ? "end" : "begin");
    if (slot < n) {
        snprintf(out, YK_ORDER_SLOT_NAME_SIZE, "forward %d", slot);
    } else if (slot > n && slot <= 2 * n) {
        snprintf(out, YK_ORDER_SLOT_NAME_SIZE, "backward %d", 2 * n - slot);
    } else {
        snprintf(out, YK_ORDER_SLOT_NAME_SIZE, "%s", gap);
    }
}

yk_status yk_order_create(const struct yk_order_problem *problem, struct yk_arena *arena,
                          struct yk_order **out)
{
    const size_t n = (size_t)problem->layer_count;
    const size_t slots = (size_t)yk_order_slot_count(problem);
    struct yk_order *order = NULL;
    YK_TRY_NEW(arena, order, 1);
    YK_TRY_NEW(arena, order->kept, n);
    YK_TRY_NEW(arena, order->scatters, n * slots);
    YK_TRY_NEW(arena, order->gathers, n * slots);
    *out = order;
    return YK_OK;
}

void yk_order_copy(const struct yk_order_problem *problem, const struct yk_order *from,
                   struct yk_order *to)
{
    const size_t n = (size_t)problem->layer_count;
    const size_t cells = n * (size_t)yk_order_slot_count(problem);
    memcpy(to->kept, from->kept, n * sizeof *to->kept);
    memcpy(to->scatters, from->scatters, cells * sizeof *to->scatters);
    memcpy(to->gathers, from->gathers, cells * sizeof *to->gathers);
    to->step_s = from->step_s;
    to->bound_s = from->bound_s;
    to->method = from->method;
}

void yk_order_loads_s(const struct yk_order_problem *problem, const struct yk_order *order,
                      double *out_s)
{
    const int32_t slots = yk_order_slot_count(problem);
    memset(out_s, 0, (size_t)slots * sizeof *out_s);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_order_layer *layer = &problem->layers[i];
        const int32_t *scatters = &order->scatters[(int64_t)i * slots];
        const int32_t *gathers = &order->gathers[(int64_t)i * slots];
        for (int32_t t = 0; t < slots; t++) {
            out_s[t] += (layer->scatter_s * scatters[t] + layer->gather_s * gathers[t]) /
                        (double)layer->blocks;
        }
    }
}

/* From the layer's backward through the slot that each block travels in. */
static void add_gradients(const struct yk_order_problem *problem, const struct yk_order *order,
                          int32_t layer, double *out_bytes)
{
    const int32_t slots = yk_order_slot_count(problem);
    const struct yk_order_window gap = yk_order_gap(problem, layer);
    const struct yk_order_layer *described = &problem->layers[layer];
    const double block_bytes = described->gradient_bytes / described->blocks;
    int32_t pending = described->blocks;
    out_bytes[yk_order_backward_slot(problem, layer)] += described->gradient_bytes;
    for (int32_t k = 0; k < gap.length; k++) {
        const int32_t t = yk_order_slot_after(slots, gap.first, k);
        out_bytes[t] += block_bytes * pending;
        pending -= order->scatters[(int64_t)layer * slots + t];
    }
}

static void add_weights(const struct yk_order_problem *problem, const struct yk_order *order,
                        int32_t layer, double *out_bytes)
{
    const int32_t slots = yk_order_slot_count(problem);
    const struct yk_order_window gap = yk_order_gap(problem, layer);
    const struct yk_order_layer *described = &problem->layers[layer];
    const double block_bytes = described->weight_bytes / described->blocks;
    const int32_t *gathers = &order->gathers[(int64_t)layer * slots];
    int32_t gathered = 0;
    for (int32_t k = 0; k < gap.length; k++) {
        const int32_t t = yk_order_slot_after(slots, gap.first, k);
        gathered += gathers[t];
        out_bytes[t] += block_bytes * gathered;
    }
    out_bytes[layer] += described->weight_bytes;
    gathered = order->kept[layer] ? described->blocks : 0;
    for (int32_t t = layer + 1; t < yk_order_backward_slot(problem, layer); t++) {
        gathered += gathers[t];
        out_bytes[t] += block_bytes * gathered;
    }
    out_bytes[yk_order_backward_slot(problem, layer)] += described->weight_bytes;
}

void yk_order_memory_bytes(const struct yk_order_problem *problem, const struct yk_order *order,
                           double *out_bytes)
{
    memset(out_bytes, 0, (size_t)yk_order_slot_count(problem) * sizeof *out_bytes);
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const enum yk_order_choice choice = problem->layers[i].choice;
        if (choice != YK_ORDER_LOCAL) {
            add_gradients(problem, order, i, out_bytes);
        }
        if (yk_order_counts_weights(choice)) {
            add_weights(problem, order, i, out_bytes);
        }
    }
}

double yk_order_limit_bytes(double room_bytes)
{
    /* Sums of some thousand terms; bytes are whole, so that half of one is none. */
    return room_bytes + fmin(0.5, 1e-9 * fabs(room_bytes));
}

double yk_order_step_s(const struct yk_order_problem *problem, const double *load_s)
{
    double step_s = 0;
    for (int32_t t = 0; t < yk_order_slot_count(problem); t++) {
        step_s += fmax(problem->compute_s[t], load_s[t]);
    }
    return step_s;
}

yk_status yk_order_check_memory(const struct yk_order_problem *problem, const double *used_bytes)
{
    char name[YK_ORDER_SLOT_NAME_SIZE];
    char missing[YK_UNITS_SIZE];
    char room[YK_UNITS_SIZE];
    int32_t worst = 0;
    for (int32_t t = 1; t < yk_order_slot_count(problem); t++) {
        if (used_bytes[t] - problem->room_bytes[t] >
            used_bytes[worst] - problem->room_bytes[worst]) {
            worst = t;
        }
    }
    if (used_bytes[worst] <= yk_order_limit_bytes(problem->room_bytes[worst])) {
        return YK_OK;
    }
    yk_order_slot_name(problem, worst, name);
    yk_units_format(used_bytes[worst] - problem->room_bytes[worst], YK_UNIT_BYTES, missing);
    yk_units_format(fmax(0, problem->room_bytes[worst]), YK_UNIT_BYTES, room);
    return yk_fail(YK_ERROR_NO_FIT,
                   "%s lacks %s of memory beyond the %s there is for gathered parameters and "
                   "gradients",
                   name, missing, room);
}
