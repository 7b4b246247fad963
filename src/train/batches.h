/*
 * Batches: the samples of one step and those of the next, on the host, so that one is prepared
 * while the other is trained on. One thread at a time.
 */
#ifndef YK_TRAIN_BATCHES_H
#define YK_TRAIN_BATCHES_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/store.h"
#include "train/executor.h"

struct yk_batches;

/* In memory of the host that the device copies from; both must outlive it. */
yk_status yk_batches_create(const struct yk_sampler *sampler, const struct yk_engine *engine,
                            int64_t samples, struct yk_batches **out) YK_MUST_USE;
void yk_batches_destroy(struct yk_batches *batches);

/* The samples from number `first` on; valid until the call after the next. */
yk_status yk_batches_take(struct yk_batches *batches, int64_t first,
                          const struct yk_batch **out) YK_MUST_USE;

#endif
