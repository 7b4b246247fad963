/*
 * Formulation: a transfer-order problem (order.h) as a mixed-integer linear program. It has a
 * column for the time and the memory of each slot, for each decision to keep a layer, and for the
 * number of blocks of a layer in each slot that its rules allow. The memory of a slot is that of
 * the previous slot plus the change between them, so every column is in a few rows only.
 */
#ifndef YK_PLANNER_ORDER_FORMULATION_H
#define YK_PLANNER_ORDER_FORMULATION_H

#include "milp/milp.h"
#include "planner/order/transfer_order.h"

struct yk_transfer_order_formulation;

struct yk_transfer_order_formulation_options {
    /* (2n, slots) the slots that blocks may be in. Row 2i is for scatters of layer i, row 2i + 1
     * for its gathers. NULL means: all slots that the rules allow. */
    const bool *allowed;
    bool apart; /* adds the many rows that enforce each block's gather after its scatter */
};

yk_status
yk_transfer_order_formulation_create(const struct yk_transfer_order_problem *problem,
                                     const struct yk_transfer_order_formulation_options *form,
                                     struct yk_arena *arena,
                                     struct yk_transfer_order_formulation **out) YK_MUST_USE;
void yk_transfer_order_formulation_destroy(struct yk_transfer_order_formulation *program);

/* Solves the program. `start` is the initial order and may be NULL; `options->start` is ignored. */
yk_status yk_transfer_order_formulation_solve(struct yk_transfer_order_formulation *program,
                                              const struct yk_milp_options *options,
                                              const struct yk_transfer_order *start,
                                              struct yk_arena *arena,
                                              struct yk_milp_result *out) YK_MUST_USE;

/* Converts an integer solution to an order. `step_s`, `bound_s` and `method` are not set. */
void yk_transfer_order_formulation_read(const struct yk_transfer_order_formulation *program,
                                        const double *values, struct yk_transfer_order *out);

/* The lower bound given by the dual values of the relaxed program. */
yk_status yk_transfer_order_formulation_bound(const struct yk_transfer_order_formulation *program,
                                              const double *prices, struct yk_arena *arena,
                                              double *out_s) YK_MUST_USE;

#endif
