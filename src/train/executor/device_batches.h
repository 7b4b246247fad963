/* Device batches: the samples of a few steps on the device, with as many tokens for each
 * micro-batch as the plan says. Points into memory that the caller carves and owns. One thread at a
 * time. */
#ifndef YK_TRAIN_EXECUTOR_DEVICE_BATCHES_H
#define YK_TRAIN_EXECUTOR_DEVICE_BATCHES_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/carve.h"
#include "nn/layers/layer.h"
#include "plan/plan.h"
#include "train/executor/executor.h"

#include <stdint.h>

enum {
    YK_DEVICE_BATCHES_STEPS = 4 /* whose samples are on the device at once */
};

struct yk_device_batches {
    const struct yk_net *net;
    int64_t *first;          /* (M + 1) each micro-batch's first sample among the rank's own, and
                                the end */
    int64_t samples;         /* B of the rank */
    int64_t sequence;        /* T of the plan */
    int64_t target_sequence; /* S */
    int64_t longest;         /* sequence that may come */
    struct {
        int32_t *tokens;        /* (B, T) */
        int32_t *lengths;       /* as many: there are no more samples than tokens */
        int32_t *target_tokens; /* (B, S); NULL without a decoder */
        int32_t *targets;       /* (B, S) */
    } steps[YK_DEVICE_BATCHES_STEPS];
    struct yk_position_tables position_tables;
};

/* For a rank of a plan, with `spare` samples more in each micro-batch; small tables live in
 * `arena`. */
yk_status yk_device_batches_init(const struct yk_plan *plan, int32_t rank, int64_t spare,
                                 const struct yk_net *net, struct yk_arena *arena,
                                 struct yk_device_batches *out) YK_MUST_USE;

void yk_device_batches_carve(struct yk_device_batches *batches, struct yk_carver *carver);

/* Fails unless each slice fits into its micro-batch. */
yk_status yk_device_batches_check(const struct yk_device_batches *batches,
                                  const struct yk_batch *batch) YK_MUST_USE;

/* Enqueues copies of a slice's tokens and targets to the device. */
void yk_device_batches_load(const struct yk_device_batches *batches,
                            const struct yk_backend *backend, struct yk_backend_lane *lane,
                            int32_t slot, int32_t micro_batch, const struct yk_slice *slice);

/* The same of its lengths, which layers in the middle of a model read on ranks where nothing else
 * may be loaded. */
void yk_device_batches_load_lengths(const struct yk_device_batches *batches,
                                    const struct yk_backend *backend, struct yk_backend_lane *lane,
                                    int32_t slot, int32_t micro_batch,
                                    const struct yk_slice *slice);

/* Fills in the shape, tokens, targets and lengths of a pass of `samples`, from number `begin` of
 * the slice on. */
void yk_device_batches_fill_pass(const struct yk_device_batches *batches, int32_t slot,
                                 int32_t micro_batch, const struct yk_slice *slice, int64_t begin,
                                 int64_t samples, struct yk_pass *pass);

#endif
