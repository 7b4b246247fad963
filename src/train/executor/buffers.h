/*
 * Buffers: offsets of a rank's buffers in one allocation during a step: outputs, saved activations
 * and workspaces of layers, gradients, gathered weights, gradients until they are scattered, and
 * what other ranks send.
 *
 * program/memory/lifetimes says how long each lives, nn how large it is. Made once, before the
 * first step; lives in the arena given.
 */
#ifndef YK_TRAIN_EXECUTOR_BUFFERS_H
#define YK_TRAIN_EXECUTOR_BUFFERS_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/layers/layer.h"
#include "program/program.h"
#include "program/rank_view.h"
#include "train/executor/offsets.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_BUFFER_NONE = -1
};

/* Of one layer and micro-batch: offsets in the allocation. */
struct yk_pass_offsets {
    size_t output;          /* of a head: not used */
    size_t output_gradient; /* of the output */
    size_t saved;           /* from forward, or from recomputation, to backward */
    size_t forward_saved;   /* the same in forward; elsewhere where it is recomputed */
    size_t forward_work;
    size_t recompute_work;
    size_t backward_work;
};

/* A layer's output that crosses to another group (program/facts), in one micro-batch. On a rank of
 * that group: its rows of the output, and of the gradient that goes back. On a rank of the layer's
 * own group: where gradients from that group arrive, which is the output's gradient itself where
 * nobody else adds to it. */
struct yk_crossing_offsets {
    size_t input;
    size_t input_gradient;
    size_t returned;
    bool direct; /* what returns is the gradient */
};

/* What an op finds elsewhere than in the store: numbers of buffers, or YK_BUFFER_NONE. */
struct yk_op_buffers {
    int32_t weights;         /* gathered: of the op's layer, also of gather */
    int32_t leader_weights;  /* of the layer whose table it uses, too */
    int32_t gradient;        /* being summed up, also of scatter and reduce */
    int32_t leader_gradient; /* the same of its layer */
    size_t gradient_at;      /* bytes from there, of a layer among those of a bucket */
    size_t leader_gradient_at;
    bool clears_gradient; /* it is the first to add to it in the step, or the micro-batch */
    bool clears_leader;
    size_t reduced_bytes; /* reduce, where each micro-batch does: of all the gradients there, */
    bool adds;            /* whose sums are added to those of micro-batches before */
};

struct yk_buffers {
    struct yk_pass_offsets *passes;        /* (L, M) */
    struct yk_crossing_offsets *crossings; /* (crossings, M) */
    struct yk_op_buffers *ops;             /* (ops of the rank) */
    size_t *offsets;                       /* of buffers by number */
    size_t bytes;                          /* of the allocation */
    struct yk_offsets_wait *waits;         /* by op */
    int32_t wait_count;
};

struct yk_buffers_request {
    const struct yk_rank_view *view;
    const struct yk_net *net;
    int64_t spare_samples; /* that a pass may have besides those planned */
};

yk_status yk_buffers_assign(const struct yk_buffers_request *request, struct yk_arena *arena,
                            struct yk_buffers *out) YK_MUST_USE;

#endif
