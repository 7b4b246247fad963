/* Trade-off output: what `yoke tradeoff` prints. */
#ifndef YK_JOB_PLANNING_TRADEOFF_OUTPUT_H
#define YK_JOB_PLANNING_TRADEOFF_OUTPUT_H

#include "base/status.h"
#include "base/text.h"
#include "job/planning/tradeoff.h"

enum {
    YK_TRADEOFF_PERCENT_SIZE = sizeof "100.0"
};

/* The part that is reserved for scheduling, in percent, with at least `digits` before the point:
 * whole where all points of the curve are, else with the one decimal that tells them apart. */
void yk_tradeoff_output_percent(const struct yk_tradeoff *tradeoff, double part, int digits,
                                char out[YK_TRADEOFF_PERCENT_SIZE]);

yk_status yk_tradeoff_result_write_text(const struct yk_tradeoff_result *result,
                                        struct yk_text *out) YK_MUST_USE;
yk_status yk_tradeoff_result_write_json(const struct yk_tradeoff_result *result,
                                        struct yk_text *out) YK_MUST_USE;

#endif
