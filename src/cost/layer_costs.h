/*
 * Layer costs: a cache of the times of a model's layers on a cluster's devices, for every batch
 * size up to the whole batch. Devices with equal times share their entries. Not thread-safe. The
 * cost sources and the model cache must outlive the layer costs.
 */
#ifndef YK_COST_LAYER_COSTS_H
#define YK_COST_LAYER_COSTS_H

#include "cost/cost.h"
#include "model/model.h"

struct yk_layer_costs;

yk_status yk_layer_costs_create(const struct yk_cost_sources *sources, struct yk_model_cache *cache,
                                struct yk_layer_costs **out) YK_MUST_USE;
void yk_layer_costs_destroy(struct yk_layer_costs *costs);

/* Computes the seconds of one pass of a layer for `samples` samples. Forward and backward passes of
 * 0 samples take no time. The time of an update does not depend on `samples`. */
yk_status yk_layer_costs_seconds(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                                 int64_t samples, enum yk_cost_pass pass,
                                 double *out_s) YK_MUST_USE;

/* Computes the time of yk_layer_costs_seconds(), with its origin and its error. */
yk_status yk_layer_costs_time_estimate(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                                       int64_t samples, enum yk_cost_pass pass,
                                       struct yk_cost_time_estimate *out) YK_MUST_USE;

/* Computes the time to copy the tokens and targets of `samples` samples from host memory to the
 * device. */
yk_status yk_layer_costs_input_copy_time(struct yk_layer_costs *costs, int32_t device,
                                         int64_t samples,
                                         struct yk_cost_time_estimate *out) YK_MUST_USE;

/* Returns a number that is equal for devices with equal times. */
int32_t yk_layer_costs_device_speed_class(const struct yk_layer_costs *costs, int32_t device);

const struct yk_cost_sources *yk_layer_costs_sources(const struct yk_layer_costs *costs);

/* Returns the error band of all layer times in the cache, without the times of input copies. Each
 * time is counted once. */
const struct yk_error_band *yk_layer_costs_error_band(const struct yk_layer_costs *costs);

#endif
