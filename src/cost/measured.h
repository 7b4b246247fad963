/* Measured: times that the cluster file gives for layers of a device. */
#ifndef YK_COST_MEASURED_H
#define YK_COST_MEASURED_H

#include "cost/cost.h"

#include <stdbool.h>

/*
 * The time of a pass from the device's table, between its batches as yk_curve_at() has it. Of the
 * entries that apply, those that say most about what they are for count: a layer's name before its
 * kind, then the model, the precision, the sequence. False when no entry applies.
 */
bool yk_cost_find_measured(const struct yk_device *device, const struct yk_model *model,
                           const struct yk_layer *layer, enum yk_cost_pass pass,
                           struct yk_cost_time *out);

/* The first entry of the device that names no layer of `model`, or NULL. */
const struct yk_measured_layer *yk_cost_unused_measurement(const struct yk_device *device,
                                                           const struct yk_model *model);

#endif
