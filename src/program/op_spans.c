#include "program/op_spans.h"

#include <math.h>

enum {
    NONE = -1
};

/* When all that the op waits for on other lanes was over; −INFINITY: it waits for nothing there. Of
 * what it awaits of the round before nothing is known but that the op began after it. */
static double ready_s(const struct yk_program_rank *list, int32_t number, const double *begin_s,
                      const double *end_s)
{
    const struct yk_op *op = &list->ops[number];
    double latest_s = -INFINITY;
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
        if (list->ops[wait->op].lane != op->lane) {
            latest_s = fmax(latest_s, wait->lag == 0 ? end_s[wait->op] : begin_s[number]);
        }
    }
    return latest_s;
}

void yk_op_spans_find(const struct yk_program_rank *list, const double *begin_s,
                      const double *end_s, double *from_s, double *until_s)
{
    int32_t before[YK_LANE_COUNT];
    for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
        before[lane] = NONE;
    }
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        const int32_t last = before[op->lane];
        const double could_s =
            fmax(ready_s(list, i, begin_s, end_s), last == NONE ? -INFINITY : until_s[last]);
        until_s[i] = end_s[i];
        from_s[i] = isfinite(could_s) ? fmin(could_s, begin_s[i]) : begin_s[i];
        if (op->kind == YK_OP_RELEASE && last != NONE) {
            until_s[last] = from_s[i] > until_s[last] ? until_s[last] : end_s[i];
            from_s[i] = end_s[i];
        } else {
            before[op->lane] = i;
        }
    }
}
