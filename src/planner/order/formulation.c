#include "planner/order/formulation.h"

#include "base/number.h"
#include "planner/order/slot_window.h"
#include "planner/order/transfer_order.h"

#include <math.h>

enum {
    NONE = -1
};

struct yk_transfer_order_formulation {
    const struct yk_transfer_order_problem *problem;
    const struct yk_transfer_order_formulation_options *form; /* while it is built */
    struct yk_milp *milp;
    int32_t slots;
    double unit_bytes;      /* unit of memory, so that all numbers have similar magnitudes */
    int32_t *slot_columns;  /* (slots) */
    int32_t *used_columns;  /* (slots) */
    int32_t *kept_columns;  /* (n) NONE if the layer is decided */
    int32_t *block_columns; /* (2n, slots) NONE if not allowed */
    int32_t *link_rows;     /* (slots) */
    int32_t *memory_rows;   /* (slots) */
};

/* The place of a transfer in `block_columns` and in the form's `allowed`. */
static int64_t cell_of(const struct yk_transfer_order_formulation *program, int32_t layer,
                       bool gather, int32_t slot)
{
    return (int64_t)(2 * layer + (gather ? 1 : 0)) * program->slots + slot;
}

static int32_t column_at(const struct yk_transfer_order_formulation *program, int32_t layer,
                         bool gather, int32_t slot)
{
    return program->block_columns[cell_of(program, layer, gather, slot)];
}

/* The change of memory at the beginning of a slot that does not depend on the order. */
static double fixed_change(const struct yk_transfer_order_formulation *program, int32_t slot)
{
    const struct yk_transfer_order_problem *problem = program->problem;
    const int32_t n = problem->layer_count;
    double bytes = 0;
    if (slot > n && slot <= 2 * n) {
        const struct yk_transfer_order_layer *layer = &problem->layers[2 * n - slot];
        bytes += layer->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION ? 0 : layer->gradient_bytes;
    }
    if (slot >= 1 && slot <= n) {
        const struct yk_transfer_order_layer *layer = &problem->layers[slot - 1];
        const bool dropped = layer->choice == YK_TRANSFER_ORDER_UNDECIDED ||
                             layer->choice == YK_TRANSFER_ORDER_FULLY_SHARDED;
        bytes -= dropped ? layer->weight_bytes : 0;
    }
    if (slot > n + 1 && slot <= 2 * n + 1) {
        const struct yk_transfer_order_layer *layer = &problem->layers[2 * n + 1 - slot];
        bytes -= yk_transfer_order_sharding_frees_weights(layer->choice) ? layer->weight_bytes : 0;
    }
    return bytes;
}

/* Bytes of the layers that are always kept, in the slot between forward and backward. */
static double kept_bytes(const struct yk_transfer_order_problem *problem)
{
    double bytes = 0;
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        bytes += layer->choice == YK_TRANSFER_ORDER_KEPT ? layer->weight_bytes : 0;
    }
    return bytes;
}

/* In the slot between forward and backward, memory is the sum of kept layers and gathers for
 * backward. In any other slot it is that of the previous slot plus the change. */
static yk_status add_slots(struct yk_transfer_order_formulation *program)
{
    const struct yk_transfer_order_problem *problem = program->problem;
    struct yk_milp *milp = program->milp;
    const int32_t turn = problem->layer_count;
    for (int32_t t = 0; t < program->slots; t++) {
        const double change =
            (t == turn ? kept_bytes(problem) : fixed_change(program, t)) / program->unit_bytes;
        YK_TRY(yk_milp_add_column(milp, problem->compute_s[t], INFINITY, 1, false,
                                  &program->slot_columns[t]));
        YK_TRY(yk_milp_add_column(milp, -INFINITY, problem->room_bytes[t] / program->unit_bytes, 0,
                                  false, &program->used_columns[t]));
        YK_TRY(yk_milp_add_row(milp, 0, INFINITY, &program->link_rows[t]));
        YK_TRY(yk_milp_add_row(milp, change, change, &program->memory_rows[t]));
        YK_TRY(yk_milp_add_coefficient(milp, program->link_rows[t], program->slot_columns[t], 1));
        YK_TRY(yk_milp_add_coefficient(milp, program->memory_rows[t], program->used_columns[t], 1));
    }
    for (int32_t t = 0; t < program->slots; t++) {
        const int32_t before = yk_transfer_order_shift_slot(program->slots, t, -1);
        if (t != turn) {
            YK_TRY(yk_milp_add_coefficient(milp, program->memory_rows[t],
                                           program->used_columns[before], -1));
        }
    }
    return YK_OK;
}

/* One kind of transfer of a layer. */
struct transfer {
    int32_t layer;
    bool gather;
    struct yk_transfer_order_slot_window window;
    double block_s;
    double block_bytes;
};

/* Adds a transfer, if the layer has it: one column for each slot, in its link and memory rows and
 * in the row that counts blocks. `*out_row` becomes that row, or NONE. */
static yk_status add_transfer(struct yk_transfer_order_formulation *program,
                              const struct transfer *transfer, int32_t *out_row)
{
    const int32_t turn = program->problem->layer_count;
    const double blocks = program->problem->layers[transfer->layer].blocks;
    const double units = transfer->block_bytes / program->unit_bytes;
    const bool *allowed = program->form->allowed;
    *out_row = NONE;
    if (transfer->window.length > 0) {
        YK_TRY(yk_milp_add_row(program->milp, blocks, blocks, out_row));
    }
    for (int32_t k = 0; k < transfer->window.length; k++) {
        const int32_t t = yk_transfer_order_shift_slot(program->slots, transfer->window.first, k);
        /* A gradient is freed in the next slot. */
        const int32_t next = yk_transfer_order_shift_slot(program->slots, t, 1);
        const int64_t cell = cell_of(program, transfer->layer, transfer->gather, t);
        int32_t column = NONE;
        if (allowed && !allowed[cell]) {
            continue;
        }
        YK_TRY(yk_milp_add_column(program->milp, 0, blocks, 0, true, &column));
        program->block_columns[cell] = column;
        YK_TRY(yk_milp_add_coefficient(program->milp, *out_row, column, 1));
        YK_TRY(yk_milp_add_coefficient(program->milp, program->link_rows[t], column,
                                       -transfer->block_s));
        if (!transfer->gather) {
            YK_TRY(
                yk_milp_add_coefficient(program->milp, program->memory_rows[next], column, units));
            continue;
        }
        YK_TRY(yk_milp_add_coefficient(program->milp, program->memory_rows[t], column, -units));
        if (t < turn &&
            yk_transfer_order_slot_is_between_passes(program->problem, transfer->layer, t)) {
            YK_TRY(
                yk_milp_add_coefficient(program->milp, program->memory_rows[turn], column, -units));
        }
    }
    return YK_OK;
}

/* A kept layer is gathered only once, and stays in memory after its forward. */
static yk_status add_kept(struct yk_transfer_order_formulation *program, int32_t layer,
                          int32_t sum_row)
{
    const struct yk_transfer_order_layer *described = &program->problem->layers[layer];
    const double units = described->weight_bytes / program->unit_bytes;
    const int32_t turn = program->problem->layer_count;
    const int32_t after = program->memory_rows[layer + 1];
    int32_t *column = &program->kept_columns[layer];
    YK_TRY(yk_milp_add_column(program->milp, 0, 1, 0, true, column));
    YK_TRY(yk_milp_add_coefficient(program->milp, sum_row, *column, described->blocks));
    YK_TRY(yk_milp_add_coefficient(program->milp, program->memory_rows[turn], *column, -units));
    return layer + 1 == turn ? YK_OK
                             : yk_milp_add_coefficient(program->milp, after, *column, -units);
}

/* Up to each slot, at most as many blocks are gathered as were scattered before it. */
static yk_status add_apart(struct yk_transfer_order_formulation *program, int32_t layer)
{
    const struct yk_transfer_order_slot_window gap =
        yk_transfer_order_backward_to_forward_window(program->problem, layer);
    for (int32_t k = 1; k < gap.length; k++) {
        const int32_t at = yk_transfer_order_shift_slot(program->slots, gap.first, k);
        int32_t row = NONE;
        if (column_at(program, layer, true, at) == NONE) {
            continue;
        }
        YK_TRY(yk_milp_add_row(program->milp, -INFINITY, 0, &row));
        for (int32_t j = 0; j <= k; j++) {
            const int32_t t = yk_transfer_order_shift_slot(program->slots, gap.first, j);
            const int32_t gathered = column_at(program, layer, true, t);
            const int32_t scattered = column_at(program, layer, false, t);
            if (gathered != NONE) {
                YK_TRY(yk_milp_add_coefficient(program->milp, row, gathered, 1));
            }
            if (scattered != NONE && j < k) {
                YK_TRY(yk_milp_add_coefficient(program->milp, row, scattered, -1));
            }
        }
    }
    return YK_OK;
}

static yk_status add_layer(struct yk_transfer_order_formulation *program, int32_t layer)
{
    const struct yk_transfer_order_layer *described = &program->problem->layers[layer];
    const struct yk_transfer_order_layer_windows windows =
        yk_transfer_order_layer_windows(program->problem, layer);
    const double blocks = described->blocks;
    const double weight_bytes =
        yk_transfer_order_sharding_frees_weights(described->choice) ? described->weight_bytes : 0;
    const struct transfer scatter = {layer, false, windows.scatter, described->scatter_s / blocks,
                                     described->gradient_bytes / blocks};
    struct transfer gather = {layer, true, windows.forward, described->gather_s / blocks,
                              weight_bytes / blocks};
    int32_t row = NONE;
    YK_TRY(add_transfer(program, &scatter, &row));
    YK_TRY(add_transfer(program, &gather, &row));
    if (program->form->apart && row != NONE) {
        YK_TRY(add_apart(program, layer));
    }
    gather.window = windows.backward;
    YK_TRY(add_transfer(program, &gather, &row));
    return described->choice == YK_TRANSFER_ORDER_UNDECIDED ? add_kept(program, layer, row) : YK_OK;
}

static yk_status build(struct yk_transfer_order_formulation *program, struct yk_arena *arena)
{
    const struct yk_transfer_order_problem *problem = program->problem;
    const int32_t n = problem->layer_count;
    const int64_t cells = (int64_t)2 * n * program->slots;
    program->unit_bytes = 1;
    for (int32_t i = 0; i < n; i++) {
        program->unit_bytes = fmax(program->unit_bytes, problem->layers[i].weight_bytes);
        program->unit_bytes = fmax(program->unit_bytes, problem->layers[i].gradient_bytes);
    }
    YK_TRY_NEW(arena, program->slot_columns, program->slots);
    YK_TRY_NEW(arena, program->used_columns, program->slots);
    YK_TRY_NEW(arena, program->kept_columns, n);
    YK_TRY_NEW(arena, program->block_columns, cells);
    YK_TRY_NEW(arena, program->link_rows, program->slots);
    YK_TRY_NEW(arena, program->memory_rows, program->slots);
    yk_number_fill_int32_array(program->block_columns, cells, NONE);
    YK_TRY(add_slots(program));
    for (int32_t i = 0; i < n; i++) {
        program->kept_columns[i] = NONE;
        YK_TRY(add_layer(program, i));
    }
    return YK_OK;
}

yk_status
yk_transfer_order_formulation_create(const struct yk_transfer_order_problem *problem,
                                     const struct yk_transfer_order_formulation_options *form,
                                     struct yk_arena *arena,
                                     struct yk_transfer_order_formulation **out)
{
    struct yk_transfer_order_formulation *program = NULL;
    YK_TRY_NEW(arena, program, 1);
    program->problem = problem;
    program->form = form;
    program->slots = yk_transfer_order_slot_count(problem);
    YK_TRY(yk_milp_create(&program->milp));
    const yk_status status = build(program, arena);
    program->form = NULL;
    YK_TRY_OR_CLEAN_UP(status, yk_transfer_order_formulation_destroy(program));
    *out = program;
    return YK_OK;
}

void yk_transfer_order_formulation_destroy(struct yk_transfer_order_formulation *program)
{
    if (program) {
        yk_milp_destroy(program->milp);
        program->milp = NULL;
    }
}

/* The values of all columns for an order. */
static yk_status begin_with(const struct yk_transfer_order_formulation *program,
                            const struct yk_transfer_order *order, struct yk_arena *arena,
                            double **out)
{
    double *values = NULL;
    double *load_s = NULL;
    double *used_bytes = NULL;
    YK_TRY_NEW(arena, values, yk_milp_column_count(program->milp));
    YK_TRY_NEW(arena, load_s, program->slots);
    YK_TRY_NEW(arena, used_bytes, program->slots);
    yk_transfer_order_compute_slot_link_times(program->problem, order, load_s);
    yk_transfer_order_compute_slot_memory(program->problem, order, used_bytes);
    for (int32_t t = 0; t < program->slots; t++) {
        values[program->slot_columns[t]] = fmax(program->problem->compute_s[t], load_s[t]);
        values[program->used_columns[t]] = used_bytes[t] / program->unit_bytes;
    }
    for (int32_t i = 0; i < program->problem->layer_count; i++) {
        if (program->kept_columns[i] != NONE) {
            values[program->kept_columns[i]] = order->kept[i] ? 1 : 0;
        }
    }
    for (int32_t op = 0; op < 2 * program->problem->layer_count; op++) {
        for (int32_t t = 0; t < program->slots; t++) {
            const int32_t column = program->block_columns[(int64_t)op * program->slots + t];
            if (column != NONE) {
                values[column] =
                    *yk_transfer_order_block_count_pointer(order, program->slots, op, t);
            }
        }
    }
    *out = values;
    return YK_OK;
}

yk_status yk_transfer_order_formulation_solve(struct yk_transfer_order_formulation *program,
                                              const struct yk_milp_options *options,
                                              const struct yk_transfer_order *start,
                                              struct yk_arena *arena, struct yk_milp_result *out)
{
    struct yk_milp_options with_start = *options;
    if (start) {
        double *values = NULL;
        YK_TRY(begin_with(program, start, arena, &values));
        with_start.start = values;
    }
    return yk_milp_solve(program->milp, &with_start, arena, out);
}

void yk_transfer_order_formulation_to_order(const struct yk_transfer_order_formulation *program,
                                            const double *values, struct yk_transfer_order *out)
{
    const struct yk_transfer_order_problem *problem = program->problem;
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const int32_t kept = program->kept_columns[i];
        out->kept[i] = kept == NONE ? problem->layers[i].choice == YK_TRANSFER_ORDER_KEPT
                                    : lround(values[kept]) == 1;
    }
    for (int32_t op = 0; op < 2 * problem->layer_count; op++) {
        for (int32_t t = 0; t < program->slots; t++) {
            const int32_t column = program->block_columns[(int64_t)op * program->slots + t];
            *yk_transfer_order_block_count_pointer(out, program->slots, op, t) =
                column == NONE ? 0 : (int32_t)lround(values[column]);
        }
    }
}

yk_status
yk_transfer_order_formulation_dual_bound(const struct yk_transfer_order_formulation *program,
                                         const double *prices, struct yk_arena *arena,
                                         double *out_s)
{
    const int32_t turn = program->problem->layer_count;
    double *link = NULL;
    double *memory = NULL;
    YK_TRY_NEW(arena, link, program->slots);
    YK_TRY_NEW(arena, memory, program->slots);
    for (int32_t t = 0; t < program->slots; t++) {
        const int32_t next = yk_transfer_order_shift_slot(program->slots, t, 1);
        /* What a byte more in the slot would save: the slot's row and, with the other sign, the
         * next one hold its column. */
        const double price = prices[program->memory_rows[t]] -
                             (next == turn ? 0 : prices[program->memory_rows[next]]);
        link[t] = fmin(1, fmax(0, prices[program->link_rows[t]]));
        memory[t] = fmax(0, price) / program->unit_bytes;
    }
    return yk_transfer_order_bound_from_prices(program->problem, link, memory, arena, out_s);
}
