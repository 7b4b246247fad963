/*
 * Buffers: the offsets of a rank's buffers in one allocation. Buffers hold layer outputs, saved
 * activations, workspaces, gradients, gathered weights, and data received from other ranks.
 *
 * program/memory/lifetimes says how long each buffer lives, nn says how large it is. The offsets
 * are computed once, before the first step, and live in the caller's arena.
 */
#ifndef YK_TRAIN_EXECUTOR_BUFFERS_H
#define YK_TRAIN_EXECUTOR_BUFFERS_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/layers/layer.h"
#include "program/op_index.h"
#include "program/program.h"
#include "train/executor/buffer_offsets.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_BUFFER_NONE = -1
};

/* Offsets in the allocation, for one layer and micro-batch. */
struct yk_layer_buffer_offsets {
    size_t output; /* unused by a head */
    size_t output_gradient;
    size_t saved;         /* activations that the backward pass reads */
    size_t forward_saved; /* activations that the forward pass writes; differs from `saved` where
                             they are recomputed */
    size_t forward_work;
    size_t recompute_work;
    size_t backward_work;
};

/*
 * Offsets for one crossing and micro-batch. A crossing is a layer's output that another group of
 * ranks reads (program/facts). Ranks of the reading group use `input` and `input_gradient`. Ranks
 * of the layer's own group receive the gradient at `returned`.
 */
struct yk_crossing_offsets {
    size_t input;
    size_t input_gradient;
    size_t returned;
    bool direct; /* `returned` is the output's gradient itself: no other gradient is added to it */
};

/* The weights and gradients that an op uses outside the store: numbers of buffers, or
 * YK_BUFFER_NONE. The leader of a layer is the layer whose weights it shares. */
struct yk_op_buffers {
    int32_t weights;        /* gathered weights of the op's layer */
    int32_t leader_weights; /* gathered weights of its leader */
    int32_t gradient;       /* gradients of the op's layer, or of its bucket, before the exchange */
    int32_t leader_gradient; /* gradients of its leader */
    size_t gradient_at;      /* byte offset of the layer inside the buffer `gradient` */
    size_t leader_gradient_at;
    bool clears_gradient; /* the op is the first to add to the gradient: it clears it before */
    bool clears_leader;
    size_t reduced_bytes; /* of an all-reduce of one micro-batch: bytes of all its gradients */
    bool adds; /* of such an all-reduce: its sums are added to those of earlier micro-batches */
};

struct yk_executor_buffers {
    struct yk_layer_buffer_offsets *passes; /* (L, M) */
    struct yk_crossing_offsets *crossings;  /* (crossings, M) */
    struct yk_op_buffers *ops;              /* (ops of the rank) */
    size_t *offsets;                        /* (buffers) */
    size_t bytes;                           /* size of the allocation */
    struct yk_buffer_reuse_wait *waits;     /* sorted by op */
    int32_t wait_count;
};

/* `spare_samples` is the number of samples that a micro-batch may have above the planned number. */
yk_status yk_executor_buffers_assign(const struct yk_op_index *index, const struct yk_net *net,
                                     int64_t spare_samples, struct yk_arena *arena,
                                     struct yk_executor_buffers *out) YK_MUST_USE;

#endif
