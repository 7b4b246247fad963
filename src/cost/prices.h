/*
 * Prices: the times of a model's layers on a cluster's devices for batches of any size, each looked
 * up once. Devices that are alike have one price.
 *
 * One thread at a time. Book and sizes must outlive the prices.
 */
#ifndef YK_COST_PRICES_H
#define YK_COST_PRICES_H

#include "cost/band.h"
#include "cost/cost.h"
#include "model/sizes.h"

struct yk_prices;

yk_status yk_prices_create(const struct yk_cost_book *book, struct yk_sizes *sizes,
                           struct yk_prices **out) YK_MUST_USE;
void yk_prices_destroy(struct yk_prices *prices);

/* Seconds of one pass of layer number `layer` for `samples`, of which none take no time. An update
 * is that of the whole layer, whatever the samples. */
yk_status yk_prices_layer(struct yk_prices *prices, int32_t device, int32_t layer, int64_t samples,
                          enum yk_cost_pass pass, double *out_s) YK_MUST_USE;

/* The same with where it comes from and how far off it may be. */
yk_status yk_prices_time(struct yk_prices *prices, int32_t device, int32_t layer, int64_t samples,
                         enum yk_cost_pass pass, struct yk_cost_time *out) YK_MUST_USE;

/* Copying the tokens of so many samples from the host's memory, yk_cost_copy(). */
yk_status yk_prices_load(struct yk_prices *prices, int32_t device, int64_t samples,
                         struct yk_cost_time *out) YK_MUST_USE;

/* Devices of one number take equal times. */
int32_t yk_prices_kind(const struct yk_prices *prices, int32_t device);

const struct yk_cost_book *yk_prices_book(const struct yk_prices *prices);
struct yk_sizes *yk_prices_sizes(const struct yk_prices *prices);

/* Of the times asked for so far, each once. */
const struct yk_band *yk_prices_band(const struct yk_prices *prices);

#endif
