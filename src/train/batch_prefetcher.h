/*
 * Batch prefetcher: reads the samples of the next steps into host memory while earlier steps run on
 * the device.
 *
 * A micro-batch is divided among the ranks; the part of one rank is its share. Usually, a rank
 * reads only its own share of every micro-batch. There are two exceptions: the number of targets
 * depends on the samples, or a unit of the sampler is a whole micro-batch (data/sampler.h). Then
 * the rank reads all samples of the micro-batch and keeps only its share. Of images, a rank without
 * the first layer reads only the labels, unless images that cannot be decoded are left out: every
 * rank must know which. Only one thread at a time may use a prefetcher.
 */
#ifndef YK_TRAIN_BATCH_PREFETCHER_H
#define YK_TRAIN_BATCH_PREFETCHER_H

#include "base/status.h"
#include "data/sampler.h"
#include "nn/store/parameter_store.h"
#include "plan/plan.h"
#include "train/executor/executor.h"

enum {
    YK_BATCH_PREFETCHER_DEPTH = 6 /* a batch is valid until this number of later batches has been
                                     read */
};

struct yk_batch_prefetcher;

/* A rank's share of a micro-batch: the samples from `first` on. Samples are numbered as in the
 * plan. */
struct yk_micro_batch_share {
    int64_t all; /* number of samples of the micro-batch on all ranks together */
    int64_t first;
    int64_t count;
    bool embeds; /* the rank has the first layer, which reads the pixels of images */
};

/* Writes a rank's share of each micro-batch to `out`, which has one element for each micro-batch.
 * If the rank is in several groups, its share covers its samples in all these groups. */
void yk_batch_prefetcher_compute_shares(const struct yk_plan *plan, int32_t rank,
                                        struct yk_micro_batch_share *out);

/* Creates a prefetcher for batches of `slice_count` micro-batches. `shares` has one element for
 * each of them. If a unit of the sampler is a whole micro-batch, its samples are divided among the
 * ranks in proportion to the shares. The backend allocates the host memory. The sampler must
 * outlive the prefetcher. */
yk_status yk_batch_prefetcher_create(const struct yk_sampler *sampler,
                                     const struct yk_device_context *context, int32_t slice_count,
                                     const struct yk_micro_batch_share *shares,
                                     struct yk_batch_prefetcher **out) YK_MUST_USE;
/* Creates a prefetcher for one rank of a plan. */
yk_status yk_batch_prefetcher_create_for_plan(const struct yk_plan *plan, int32_t rank,
                                              const struct yk_sampler *sampler,
                                              const struct yk_device_context *context,
                                              struct yk_batch_prefetcher **out) YK_MUST_USE;
void yk_batch_prefetcher_destroy(struct yk_batch_prefetcher *prefetcher);

/* Reads the batch that starts with unit `first` of the sampler. A micro-batch that would start at
 * unit `end` or later is empty. If the rank reads all samples of a micro-batch that starts before
 * `end`, the units from `end` on are left out. If it reads only its own share, they are not. */
yk_status yk_batch_prefetcher_read_batch(struct yk_batch_prefetcher *prefetcher, int64_t first,
                                         int64_t end, const struct yk_rank_batch **out) YK_MUST_USE;

#endif
