/*
 * Device batches: the tokens or images of the most recent steps in device memory. Each micro-batch
 * has space for its planned samples and for some spare samples. The caller allocates and frees
 * the memory. Only one thread at a time may use the batches.
 */
#ifndef YK_TRAIN_EXECUTOR_DEVICE_BATCHES_H
#define YK_TRAIN_EXECUTOR_DEVICE_BATCHES_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/bump_allocator.h"
#include "nn/layers/layer.h"
#include "plan/plan.h"
#include "program/memory/memory.h"
#include "train/executor/executor.h"

#include <stdint.h>

enum {
    /* Number of steps whose samples are on the device at the same time. */
    YK_DEVICE_BATCHES_STEP_SLOTS = YK_PROGRAM_MEMORY_STEP_SLOTS
};

struct yk_device_batches {
    const struct yk_net *net;
    /* (micro-batches + 1) index of the first sample of each micro-batch in the arrays below; the
     * last element is B */
    int64_t *first;
    int64_t samples;     /* B, number of samples of this rank in a step, with spare samples */
    int64_t sequence;    /* T, tokens per sample in the plan; 1 for images */
    bool images;         /* samples are images */
    int64_t image_bytes; /* bytes of an image; 0 means: tokens, or this rank does not read them */
    int64_t target_sequence; /* S, target tokens per sample in the plan; T if there is no decoder */
    int64_t longest;         /* maximum length of a sequence */
    struct {
        int32_t *tokens;        /* (B, T) */
        int32_t *lengths;       /* (B·T), because a slice never has more samples than tokens */
        int32_t *target_tokens; /* (B, S); NULL for a model that has no decoder */
        int32_t *targets;       /* (B, S) */
        uint8_t *pixels;        /* (B, channels, height, width); NULL unless image_bytes > 0 */
    } steps[YK_DEVICE_BATCHES_STEP_SLOTS];
    struct yk_position_tables position_tables;
};

/* Computes the sizes for one rank of a plan. Each micro-batch that is not empty gets space for
 * `spare` samples in addition to the planned ones. `first` is allocated in the arena. */
yk_status yk_device_batches_compute_sizes(const struct yk_plan *plan, int32_t rank, int64_t spare,
                                          const struct yk_net *net, struct yk_arena *arena,
                                          struct yk_device_batches *out) YK_MUST_USE;

void yk_device_batches_allocate(struct yk_device_batches *batches,
                                struct yk_bump_allocator *allocator);

/* Fails if a slice does not fit into the space of its micro-batch. */
yk_status yk_device_batches_check_batch_fits(const struct yk_device_batches *batches,
                                             const struct yk_rank_batch *batch) YK_MUST_USE;

/* Enqueues copies of a slice's tokens or pixels, and of its targets, to the device. */
void yk_device_batches_enqueue_token_copy(const struct yk_device_batches *batches,
                                          const struct yk_backend *backend,
                                          struct yk_backend_lane *lane, int32_t slot,
                                          int32_t micro_batch, const struct yk_sample_slice *slice);

/* Enqueues a copy of a slice's lengths to the device. Every rank needs the lengths, even a rank
 * that has only middle layers and loads no tokens. */
void yk_device_batches_enqueue_length_copy(const struct yk_device_batches *batches,
                                           const struct yk_backend *backend,
                                           struct yk_backend_lane *lane, int32_t slot,
                                           int32_t micro_batch,
                                           const struct yk_sample_slice *slice);

/* Sets the shape, tokens, pixels, targets and lengths of `pass`, which computes `samples` samples
 * of the slice, from sample `begin` on. */
void yk_device_batches_set_pass_inputs(const struct yk_device_batches *batches, int32_t slot,
                                       int32_t micro_batch, const struct yk_sample_slice *slice,
                                       int64_t begin, int64_t samples, struct yk_layer_pass *pass);

#endif
