/*
 * Formulation: expresses a transfer-order problem (transfer_order.h) as a mixed-integer linear
 * program. Its columns are:
 *
 *   for each slot                                       its time and its memory
 *   for each undecided layer                            1 if the layer is kept, otherwise 0
 *   for each collective and each slot where it may run  the number of its blocks in this slot
 *
 * Each slot has a row for its memory. In the slot between forward and backward, the row gives the
 * memory itself. In all other slots, the row gives the difference from the memory of the previous
 * slot, so that every column is in a few rows only.
 */
#ifndef YK_PLANNER_ORDER_FORMULATION_H
#define YK_PLANNER_ORDER_FORMULATION_H

#include "milp/milp.h"
#include "planner/order/transfer_order.h"

struct yk_transfer_order_formulation;

struct yk_transfer_order_formulation_options {
    /* (2n, slots) whether blocks may be in the slot. Row 2i is for scatters of layer i, row 2i + 1
     * for its gathers. NULL means: all slots that the rules in transfer_order.h allow. */
    const bool *allowed;
    bool apart; /* adds many rows, which require that each block is gathered in a later slot than it
                   is scattered in */
};

yk_status
yk_transfer_order_formulation_create(const struct yk_transfer_order_problem *problem,
                                     const struct yk_transfer_order_formulation_options *form,
                                     struct yk_arena *arena,
                                     struct yk_transfer_order_formulation **out) YK_MUST_USE;
void yk_transfer_order_formulation_destroy(struct yk_transfer_order_formulation *program);

/* Solves the program. `start`, an order to start from, may be NULL. Ignores `options->start`. */
yk_status yk_transfer_order_formulation_solve(struct yk_transfer_order_formulation *program,
                                              const struct yk_milp_options *options,
                                              const struct yk_transfer_order *start,
                                              struct yk_arena *arena,
                                              struct yk_milp_result *out) YK_MUST_USE;

/* Converts `values`, an integer solution, to an order. Does not set `step_s`, `bound_s` and
 * `method` of the order. */
void yk_transfer_order_formulation_to_order(const struct yk_transfer_order_formulation *program,
                                            const double *values, struct yk_transfer_order *out);

/* Computes a lower bound of the step time from `prices`, the dual values of the relaxed program. */
yk_status
yk_transfer_order_formulation_dual_bound(const struct yk_transfer_order_formulation *program,
                                         const double *prices, struct yk_arena *arena,
                                         double *out_s) YK_MUST_USE;

#endif
