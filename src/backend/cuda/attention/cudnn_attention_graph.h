/*
 * cuDNN attention graph: builds the cuDNN graphs of the forward pass and of the backward pass of
 * attention. The ops and their order match the patterns that cuDNN's fused attention engines
 * recognise: matmuls, masks, and a softmax that is built from single ops. The functions have no
 * state.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_ATTENTION_GRAPH_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_ATTENTION_GRAPH_H

#include "backend/cuda/attention/cudnn_builder.h"
#include "backend/ops.h"

/* The key of a plan: all properties of an attention op on which the plan depends. The struct has no
 * padding, because keys are compared with memcmp(). Strides are in elements. */
struct yk_cudnn_attention_shape {
    int64_t batch;
    int64_t head_size;
    int64_t heads;
    int64_t queries; /* T, per sample */
    int64_t kv_heads;
    int64_t keys; /* S, per sample */
    int64_t q_stride;
    int64_t k_stride;
    int64_t v_stride;
    int64_t out_stride;
    int64_t head_stride; /* of q, k, v and their gradients; the heads of out are adjacent */
    int64_t capped;      /* 1 means: there is a softcap; its value is passed when the plan runs */
    int64_t dq_stride;   /* dq, dk and dv strides are 0 in the forward pass */
    int64_t dk_stride;
    int64_t dv_stride;
    int32_t type; /* enum yk_precision */
    int32_t backward;
    int32_t causal;
    int32_t lengths;    /* 1 means: each sample has its own number of valid keys */
    int32_t sums;       /* 1 means: log-sum-exp is stored (forward) or read (backward) */
    int32_t repeatable; /* 1 means: gradients must have the same bits in every run */
};
_Static_assert(sizeof(struct yk_cudnn_attention_shape) ==
                   15 * sizeof(int64_t) + 6 * sizeof(int32_t),
               "two keys are compared with memcmp()");

/* The tensors and values of both graphs that the caller passes to a plan. */
enum yk_cudnn_attention_tensor {
    YK_CUDNN_Q,
    YK_CUDNN_K,
    YK_CUDNN_V,
    YK_CUDNN_OUT,
    YK_CUDNN_LOG_SUM_EXP,
    YK_CUDNN_D_OUT,
    YK_CUDNN_DQ,
    YK_CUDNN_DK,
    YK_CUDNN_DV,
    YK_CUDNN_DELTA,   /* (B, heads, T) fp32 scratch: the sum of out ∘ d_out over a head */
    YK_CUDNN_DQ_SUMS, /* (B, heads, T, head_size) fp32 scratch: sums of dq before the conversion;
                         used only if `repeatable` is 0 */
    YK_CUDNN_QUERY_COUNTS, /* (B) int32: T for every sample */
    YK_CUDNN_KEY_COUNTS,   /* (B) int32: the number of valid keys of each sample */
    YK_CUDNN_SCALE,        /* this and the next values are fp32 numbers in host memory */
    YK_CUDNN_SOFTCAP,
    YK_CUDNN_ONE,
    YK_CUDNN_MASK_LENGTHS, /* −∞, the score of keys beyond the length */
    YK_CUDNN_MASK_CAUSAL,  /* −∞, the score of keys after the query */
    YK_CUDNN_ATTENTION_TENSOR_COUNT,
};

/* Builds the graph of the forward or backward pass. `out` receives the ids of the tensors, indexed
 * by enum yk_cudnn_attention_tensor. YK_CUDNN_NO_TENSOR means: the graph does not use the
 * tensor. */
void yk_cudnn_attention_graph_build(struct yk_cudnn_builder *builder,
                                    const struct yk_cudnn_attention_shape *shape,
                                    int out[YK_CUDNN_ATTENTION_TENSOR_COUNT]);

#endif
