/*
 * Profiled: what a profile says about a layer.
 *
 * The time at the batch comes from the curve that was measured for the layer's sequence. Where that
 * sequence was not measured, others of the same layer serve. A layer's time for B samples of T
 * tokens is a + b·BT + c·BT², c being attention's: among batches of equally many tokens BT it is a
 * straight line in T. So between two measured sequences the line is taken; beyond them the nearest
 * is scaled by what the datasheet says of the two, which at equal tokens differ by attention only.
 */
#ifndef YK_COST_PROFILED_H
#define YK_COST_PROFILED_H

#include "cost/cost.h"

#include <stdbool.h>

/* One pass of the layer on the device; `found` is false where the profile has nothing of use. */
yk_status yk_cost_find_profiled(const struct yk_cost_book *book, int32_t device,
                                const struct yk_model *model, const struct yk_layer *layer,
                                enum yk_cost_pass pass, struct yk_cost_time *out,
                                bool *found) YK_MUST_USE;

#endif
