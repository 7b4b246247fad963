/*
 * Formulation: expresses a transfer-order problem (transfer_order.h) as a mixed-integer linear
 * program. The program has two columns for each slot, its time and its memory; one column for each
 * undecided layer, which is 1 if the layer is kept; and one column for each collective of a layer
 * and each slot in which the collective may run, the number of its blocks in that slot. A row sets
 * the memory of a slot to that of the previous slot plus the change. So every column is in a few
 * rows only.
 */
#ifndef YK_PLANNER_ORDER_FORMULATION_H
#define YK_PLANNER_ORDER_FORMULATION_H

#include "milp/milp.h"
#include "planner/order/transfer_order.h"

struct yk_transfer_order_formulation;

struct yk_transfer_order_formulation_options {
    /* (2n, slots) the slots in which blocks may be. Row 2i is for scatters of layer i, row 2i + 1
     * for its gathers. NULL means: all slots that the rules allow. */
    const bool *allowed;
    bool apart; /* adds the (many) rows that put the gather of each block after its scatter */
};

yk_status
yk_transfer_order_formulation_create(const struct yk_transfer_order_problem *problem,
                                     const struct yk_transfer_order_formulation_options *form,
                                     struct yk_arena *arena,
                                     struct yk_transfer_order_formulation **out) YK_MUST_USE;
void yk_transfer_order_formulation_destroy(struct yk_transfer_order_formulation *program);

/* Solves the program. `start` is the initial order; may be NULL. `options->start` is ignored. */
yk_status yk_transfer_order_formulation_solve(struct yk_transfer_order_formulation *program,
                                              const struct yk_milp_options *options,
                                              const struct yk_transfer_order *start,
                                              struct yk_arena *arena,
                                              struct yk_milp_result *out) YK_MUST_USE;

/* Converts an integer solution to an order. Does not set `step_s`, `bound_s` and `method` of the
 * order. */
void yk_transfer_order_formulation_to_order(const struct yk_transfer_order_formulation *program,
                                            const double *values, struct yk_transfer_order *out);

/* Computes a lower bound of the step time from `prices`, the dual values of the relaxed program. */
yk_status
yk_transfer_order_formulation_dual_bound(const struct yk_transfer_order_formulation *program,
                                         const double *prices, struct yk_arena *arena,
                                         double *out_s) YK_MUST_USE;

#endif
