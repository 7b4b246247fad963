/* Batches: the samples of a few steps on the host, so that some are prepared while others are
 * trained on. A rank reads its own share of every micro-batch; where the number of targets depends
 * on the samples themselves, it reads all of them and keeps its own. One thread at a time. */
#ifndef YK_TRAIN_BATCHES_H
#define YK_TRAIN_BATCHES_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/store/store.h"
#include "plan/plan.h"
#include "train/executor/executor.h"

enum {
    YK_BATCHES_PREFETCH = 6 /* a batch stays as it is until as many others were read */
};

struct yk_batches;

/* A rank's share of a micro-batch, in planned samples. */
struct yk_batch_share {
    int64_t all; /* samples of the micro-batch on all ranks */
    int64_t first;
    int64_t count;
};

/* The shares of a plan for a rank: (M). They hold what the rank needs in any of its groups. */
void yk_batches_find_shares(const struct yk_plan *plan, int32_t rank, struct yk_batch_share *out);

/* Of `slice_count` slices; `shares` counts in samples, and a sampler whose units are slices is cut
 * in proportion. In host memory that the device copies from; sampler and engine must outlive it. */
yk_status yk_batches_create(const struct yk_sampler *sampler, const struct yk_engine *engine,
                            int32_t slice_count, const struct yk_batch_share *shares,
                            struct yk_batches **out) YK_MUST_USE;
/* The same for a rank of a plan. */
yk_status yk_batches_create_planned(const struct yk_plan *plan, int32_t rank,
                                    const struct yk_sampler *sampler,
                                    const struct yk_engine *engine,
                                    struct yk_batches **out) YK_MUST_USE;
void yk_batches_destroy(struct yk_batches *batches);

/* The samples from unit `first` on; past `end` there are none any more. */
yk_status yk_batches_next(struct yk_batches *batches, int64_t first, int64_t end,
                          const struct yk_batch **out) YK_MUST_USE;

#endif
