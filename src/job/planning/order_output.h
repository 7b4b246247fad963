/* Order output: an order as a table for people and as JSON for programs. */
#ifndef YK_JOB_PLANNING_ORDER_OUTPUT_H
#define YK_JOB_PLANNING_ORDER_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "planner/order.h"

struct yk_order_output {
    const struct yk_order_problem *problem;
    const struct yk_order *order;
    const char *source;                       /* of the problem */
    const char *method;                       /* that was asked for */
    double seconds;                           /* that finding the order took */
    const struct yk_plan_transfer *transfers; /* by slot */
    int32_t transfer_count;
    const double *load_s;     /* (slots) */
    const double *used_bytes; /* (slots) */
};

/* How far above the bound the order is, as a part of the bound. */
double yk_order_output_gap(const struct yk_order *order);

/* Whether the transfer is a gather for backward. */
bool yk_order_output_is_for_backward(const struct yk_order_problem *problem,
                                     const struct yk_plan_transfer *transfer);

/* Runs of slots in which the same happens to one layer after the other take one row. */
yk_status yk_order_write_text(const struct yk_order_output *output,
                              struct yk_text *out) YK_MUST_USE;

/* Every slot by itself. */
yk_status yk_order_write_json(const struct yk_order_output *output,
                              struct yk_text *out) YK_MUST_USE;

#endif
