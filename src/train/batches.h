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

/* Of `piece_count` pieces, the m-th of `samples`[m] samples where the sampler counts in samples. In
 * memory of the host that the device copies from; sampler and engine must outlive it. */
yk_status yk_batches_create(const struct yk_sampler *sampler, const struct yk_engine *engine,
                            int32_t piece_count, const int64_t *samples,
                            struct yk_batches **out) YK_MUST_USE;
void yk_batches_destroy(struct yk_batches *batches);

/* The samples from unit `first` on; valid until the call after the next. */
yk_status yk_batches_take(struct yk_batches *batches, int64_t first,
                          const struct yk_batch **out) YK_MUST_USE;

#endif
