/* Work: what a layer does in a pass, and how long that takes by the datasheet. */
#ifndef YK_COST_ROOFLINE_H
#define YK_COST_ROOFLINE_H

#include "cost/cost.h"

/* What a layer does in a pass. */
const struct yk_work_list *yk_roofline_layer_work(const struct yk_layer *layer,
                                                  enum yk_cost_pass pass);

/*
 * The time of one piece of work from the datasheet: max(operations / rate, bytes / bandwidth) plus
 * launches, all scaled by efficiency (YK_GENERATION_COUNT rows, or NULL for the fitted ones). A
 * matrix product fetches its operands again besides; see efficiency.h.
 */
double yk_roofline_time(const struct yk_device *device, const struct yk_efficiency *efficiencies,
                        const struct yk_work *work);

#endif
