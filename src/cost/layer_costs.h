/*
 * Layer costs: the times of a model's layers on a cluster's devices for batches of any size, each
 * looked up once. Equal devices share their times. One thread at a time. Book and sizes must
 * outlive it.
 */
#ifndef YK_COST_LAYER_COSTS_H
#define YK_COST_LAYER_COSTS_H

#include "cost/cost.h"
#include "cost/error_band.h"
#include "model/model.h"

struct yk_layer_costs;

yk_status yk_layer_costs_create(const struct yk_cost_book *book, struct yk_model_sizes *sizes,
                                struct yk_layer_costs **out) YK_MUST_USE;
void yk_layer_costs_destroy(struct yk_layer_costs *costs);

/* Seconds of one pass of layer number `layer` for `samples`, of which none take no time. An update
 * is that of the whole layer, whatever the samples. */
yk_status yk_layer_costs_seconds(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                                 int64_t samples, enum yk_cost_pass pass,
                                 double *out_s) YK_MUST_USE;

/* The same with where it comes from and how far off it may be. */
yk_status yk_layer_costs_time(struct yk_layer_costs *costs, int32_t device, int32_t layer,
                              int64_t samples, enum yk_cost_pass pass,
                              struct yk_cost_time *out) YK_MUST_USE;

/* Copying the tokens of so many samples from the host's memory, yk_communication_copy_time(). */
yk_status yk_layer_costs_load_time(struct yk_layer_costs *costs, int32_t device, int64_t samples,
                                   struct yk_cost_time *out) YK_MUST_USE;

/* Devices of one number take equal times. */
int32_t yk_layer_costs_device_kind(const struct yk_layer_costs *costs, int32_t device);

const struct yk_cost_book *yk_layer_costs_book(const struct yk_layer_costs *costs);

/* Of the times asked for so far, each once. */
const struct yk_error_band *yk_layer_costs_band(const struct yk_layer_costs *costs);

#endif
