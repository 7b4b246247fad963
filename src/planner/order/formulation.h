/*
 * Formulation: an order problem as a mixed-integer linear program (order.h has the rules). A column
 * for each slot's time and memory, for each kept bit, and for the blocks of each layer in each slot
 * that they may be in. Memory is an inventory: what a slot uses is what the one before used, and
 * what came and went in between; so each column is in a handful of rows.
 */
#ifndef YK_PLANNER_ORDER_FORMULATION_H
#define YK_PLANNER_ORDER_FORMULATION_H

#include "milp/milp.h"
#include "planner/order/order.h"

struct yk_order_formulation;

struct yk_order_formulation_options {
    /* (2n, slots) where blocks may stand: rows 2i are scatters of layer i, rows 2i + 1 its gathers;
     * NULL: wherever the rules allow it. */
    const bool *allowed;
    bool apart; /* with the rows that have each block gathered after it is scattered: many */
};

yk_status yk_order_formulation_create(const struct yk_order_problem *problem,
                                      const struct yk_order_formulation_options *form,
                                      struct yk_arena *arena,
                                      struct yk_order_formulation **out) YK_MUST_USE;
void yk_order_formulation_destroy(struct yk_order_formulation *program);

/* `start` may be NULL; of the options, its own start is not used. */
yk_status yk_order_formulation_solve(struct yk_order_formulation *program,
                                     const struct yk_milp_options *options,
                                     const struct yk_order *start, struct yk_arena *arena,
                                     struct yk_milp_result *out) YK_MUST_USE;

/* The blocks of a solution in whole columns. Step, bound and method are left as they are. */
void yk_order_formulation_read(const struct yk_order_formulation *program, const double *values,
                               struct yk_order *out);

/* The bound that the prices of a relaxed solution give. */
yk_status yk_order_formulation_bound(const struct yk_order_formulation *program,
                                     const double *prices, struct yk_arena *arena,
                                     double *out_s) YK_MUST_USE;

#endif
