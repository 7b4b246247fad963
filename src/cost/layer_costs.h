/*
 * Layer costs: a cache of the times of a model's layers on a cluster's devices, for every batch
 * size up to the whole batch. Equal devices share one cache. Not thread-safe. The cost sources and
 * the model sizes must outlive it.
 */
#ifndef YK_COST_LAYER_COSTS_H
#define YK_COST_LAYER_COSTS_H

#include "cost/cost.h"
#include "model/model.h"

struct yk_layer_costs;

yk_status yk_layer_costs_create(const struct yk_cost_sources *sources, struct yk_model_cache *cache,
                                struct yk_layer_costs **out) YK_MUST_USE;
void yk_layer_costs_destroy(struct yk_layer_costs *costs);

/* Seconds of one pass of a layer for `samples`; 0 samples take no time. An update does not depend
 * on `samples`. */
yk_status yk_layer_costs_seconds(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                                 int64_t samples, enum yk_cost_pass pass,
                                 double *out_s) YK_MUST_USE;

/* The same with origin and error. */
yk_status yk_layer_costs_time(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                              int64_t samples, enum yk_cost_pass pass,
                              struct yk_cost_time *out) YK_MUST_USE;

/* Time to copy the tokens and targets of `samples` from host memory to the device. */
yk_status yk_layer_costs_input_copy_time(struct yk_layer_costs *costs, int32_t device,
                                         int64_t samples, struct yk_cost_time *out) YK_MUST_USE;

/* Returns the same number for devices with equal times. */
int32_t yk_layer_costs_device_kind(const struct yk_layer_costs *costs, int32_t device);

const struct yk_cost_sources *yk_layer_costs_sources(const struct yk_layer_costs *costs);

/* The error band of all times in the cache, each counted once. */
const struct yk_error_band *yk_layer_costs_band(const struct yk_layer_costs *costs);

#endif
