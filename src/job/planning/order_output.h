/* Order output: what `yoke order` prints. */
#ifndef YK_JOB_PLANNING_ORDER_OUTPUT_H
#define YK_JOB_PLANNING_ORDER_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/planning/order.h"

/* Runs of slots in which the same happens to one layer after the other take one row. */
yk_status yk_order_result_write_text(const struct yk_order_result *result,
                                     struct yk_text *out) YK_MUST_USE;

/* Every slot by itself. */
yk_status yk_order_result_write_json(const struct yk_order_result *result,
                                     struct yk_text *out) YK_MUST_USE;

#endif
