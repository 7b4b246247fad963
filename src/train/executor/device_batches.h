/*
 * Intake: the samples of a few steps on the device, a place for each micro-batch as large as the
 * plan says. A piece may have another shape than its micro-batch in the plan, but not more tokens.
 *
 * It points into memory that its user carves and owns. One thread at a time.
 */
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

/* For a rank of a plan, with room for `spare` samples more in each micro-batch; its small tables
 * live in `arena`. */
yk_status yk_device_batches_init(const struct yk_plan *plan, int32_t rank, int64_t spare,
                                 const struct yk_net *net, struct yk_arena *arena,
                                 struct yk_device_batches *out) YK_MUST_USE;

/* Room for the rank's samples of as many steps. */
void yk_device_batches_carve(struct yk_device_batches *batches, struct yk_carver *carver);

/* Fails unless each piece has room in its micro-batch. */
yk_status yk_device_batches_check(const struct yk_device_batches *batches,
                                  const struct yk_batch *batch) YK_MUST_USE;

/* Puts the copies of a piece's tokens and targets to the device on a lane. */
void yk_device_batches_load(const struct yk_device_batches *batches,
                            const struct yk_backend *backend, struct yk_backend_lane *lane,
                            int32_t slot, int32_t micro_batch, const struct yk_slice *slice);

/* The same of its lengths: layers in the middle of a model look at them, on ranks where nothing
 * else may be loaded. */
void yk_device_batches_load_lengths(const struct yk_device_batches *batches,
                                    const struct yk_backend *backend, struct yk_backend_lane *lane,
                                    int32_t slot, int32_t micro_batch,
                                    const struct yk_slice *slice);

/* Fills in what a pass of `samples`, from number `begin` of the piece on, reads of them, and how
 * many they are. */
void yk_device_batches_fill_pass(const struct yk_device_batches *batches, int32_t slot,
                                 int32_t micro_batch, const struct yk_slice *slice, int64_t begin,
                                 int64_t samples, struct yk_pass *pass);

#endif
