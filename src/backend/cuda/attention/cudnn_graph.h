/*
 * Graph of attention, as cuDNN's fused engines know it: products, a softmax in single steps, masks.
 * Plain functions of a shape.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_GRAPH_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_GRAPH_H

#include "backend/cuda/attention/cudnn_builder.h"
#include "backend/ops.h"

/* What a plan depends on. No gaps, so that two may be compared as bytes. */
struct yk_cudnn_shape {
    int64_t batch;
    int64_t head_size;
    int64_t heads;
    int64_t queries; /* T of each */
    int64_t kv_heads;
    int64_t keys; /* S of each */
    int64_t q_stride;
    int64_t k_stride;
    int64_t v_stride;
    int64_t out_stride;
    int64_t dq_stride; /* 0 in the forward pass, as those below */
    int64_t dk_stride;
    int64_t dv_stride;
    int32_t type; /* enum yk_precision */
    int32_t backward;
    int32_t causal;
    int32_t lengths;    /* 1: keys are counted by them */
    int32_t sums;       /* 1: they are wanted, or given */
    int32_t repeatable; /* 1: the same bits every time; of the backward pass */
};
_Static_assert(sizeof(struct yk_cudnn_shape) == 13 * sizeof(int64_t) + 6 * sizeof(int32_t),
               "two shapes are compared as bytes");

/* The stored tensors and values of both graphs. */
enum yk_cudnn_slot {
    YK_CUDNN_Q,
    YK_CUDNN_K,
    YK_CUDNN_V,
    YK_CUDNN_OUT,
    YK_CUDNN_SUMS,
    YK_CUDNN_D_OUT,
    YK_CUDNN_DQ,
    YK_CUDNN_DK,
    YK_CUDNN_DV,
    YK_CUDNN_DELTA,        /* (B, heads, T) of fp32, between two kernels: the sum of out · d_out */
    YK_CUDNN_DQ_SUMS,      /* (B, heads, T, D) of fp32; where dq need not be repeatable */
    YK_CUDNN_QUERY_COUNTS, /* (B) of int32: T each */
    YK_CUDNN_KEY_COUNTS,   /* (B) of int32: the lengths */
    YK_CUDNN_SCALE,        /* values from here on */
    YK_CUDNN_ONE,
    YK_CUDNN_MASK_LENGTHS, /* −∞ */
    YK_CUDNN_MASK_CAUSAL,  /* −∞ */
    YK_CUDNN_SLOTS,
};

/* Tensors by slot; YK_CUDNN_NONE for those that the graph has no use for. */
struct yk_cudnn_slots {
    int ids[YK_CUDNN_SLOTS];
};

void yk_cudnn_graph_forward(struct yk_cudnn_builder *builder, const struct yk_cudnn_shape *shape,
                            struct yk_cudnn_slots *out);
void yk_cudnn_graph_backward(struct yk_cudnn_builder *builder, const struct yk_cudnn_shape *shape,
                             struct yk_cudnn_slots *out);

#endif
