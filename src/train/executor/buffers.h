/*
 * Buffers: the offsets of a rank's buffers in one allocation. Buffers hold layer outputs, saved
 * activations, workspaces, gradients, gathered weights, and data received from other ranks.
 *
 * program/memory/buffer_lifetimes.h defines how long each buffer lives. The functions of nn/
 * compute its size. The offsets are computed once, before the first step, and live in the caller's
 * arena.
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

/* Byte offsets in the allocation, for one layer and one micro-batch. */
struct yk_layer_buffer_offsets {
    size_t output; /* not used for a head */
    size_t output_gradient;
    size_t saved;         /* activations that the backward pass reads */
    size_t forward_saved; /* activations that the forward pass writes; differs from `saved` if the
                             activations are recomputed */
    size_t forward_work;
    size_t recompute_work;
    size_t backward_work;
};

/*
 * Byte offsets in the allocation, for one crossing and one micro-batch. A crossing is an output
 * that is produced by a layer of one group of ranks and read by layers of another group
 * (program/program_facts.h). Ranks that read the output use `input` and `input_gradient`. Ranks
 * that produce it receive its gradient at `returned`.
 */
struct yk_crossing_buffer_offsets {
    size_t input;
    size_t input_gradient;
    size_t returned;
    bool direct; /* `returned` is the layer's `output_gradient`, because no other gradient is
                    added to it */
};

/* The buffers in which an op finds weights and gradients that are not in the store. Members of type
 * int32_t are numbers of buffers, or YK_BUFFER_NONE. If a layer uses the weights of another layer,
 * that other layer is its leader. The layers of a bucket have one common all-reduce (struct
 * yk_gradient_bucket). */
struct yk_op_parameter_buffers {
    int32_t weights;        /* gathered weights of the op's layer */
    int32_t leader_weights; /* gathered weights of the leader of the op's layer */
    int32_t gradient; /* gradients of the op's layer, or of its bucket, before they are exchanged */
    int32_t leader_gradient; /* gradients of the leader */
    size_t gradient_at;      /* byte offset of the layer's gradients in the buffer `gradient` */
    size_t leader_gradient_at;
    bool clears_gradient; /* the op is the first that adds to the gradient, so it first sets the
                             gradient to 0 */
    bool clears_leader;
    size_t reduced_bytes; /* if the op is an all-reduce of one micro-batch: bytes of all its
                             gradients */
    /* If the op is an all-reduce of one micro-batch: true means that its result is added to the sum
     * of earlier all-reduces of the same step; false means that its result replaces the sum. */
    bool adds;
};

struct yk_executor_buffers {
    struct yk_layer_buffer_offsets *passes;       /* (layers, micro-batches) */
    struct yk_crossing_buffer_offsets *crossings; /* (crossings, micro-batches) */
    struct yk_op_parameter_buffers *ops;          /* (ops of the rank) the buffers of each op */
    size_t *offsets;                              /* (buffers) byte offset of each buffer */
    size_t bytes;                                 /* size of the allocation */
    struct yk_buffer_reuse_wait *waits;           /* sorted by op */
    int32_t wait_count;
};

/* Assigns an offset to every buffer. `spare_samples` is the number of samples that a micro-batch
 * may have in addition to the planned number. */
yk_status yk_executor_buffers_assign_offsets(const struct yk_op_index *index,
                                             const struct yk_net *net, int64_t spare_samples,
                                             struct yk_arena *arena,
                                             struct yk_executor_buffers *out) YK_MUST_USE;

#endif
