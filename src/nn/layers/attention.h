/*
 * Attention: the attention of a block, out(attention(queries, keys, values)), without its norm. It
 * is self-attention, or cross-attention to another layer's output (the memory). One row of
 * self-attention holds queries, keys and values; in cross-attention, one row holds keys and values.
 * Q and K are the widths of all query heads and of all key heads.
 */
#ifndef YK_NN_LAYERS_ATTENTION_H
#define YK_NN_LAYERS_ATTENTION_H

#include "nn/layers/residual.h"

/* The first projections of every block. */
enum {
    YK_ATTENTION_PROJECTION_QKV,
    YK_ATTENTION_PROJECTION_OUT,
    YK_ATTENTION_PROJECTION_END,
};

struct yk_attention_shape {
    int32_t queries; /* projection of the queries; in self-attention, also of keys and values */
    int32_t memory;  /* projection of keys and values of cross-attention; −1: self-attention */
    int32_t out;     /* output projection */
    enum yk_dropout_site drop_attention;
    enum yk_dropout_site drop_out;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    bool causal;
    bool measured; /* keys beyond the lengths of the pass are masked */
};

/* Activations that forward saves for backward, in addition to the input. */
struct yk_attention_saved {
    void *q;        /* (rows, Q + 2K) after rotary positions; in cross-attention (rows, Q) */
    void *kv;       /* (B·S, 2K) of cross-attention; else NULL */
    void *attended; /* (rows, Q) */
    void *inner_q;  /* x · Aᵀ of the adapter of each projection; NULL: no adapter */
    void *inner_kv;
    void *inner_out;
    float *sums; /* (B, H, T) log-sum-exp of the scores */
};

/* Causal self-attention with the heads of the config. */
struct yk_attention_shape yk_attention_causal_shape(const struct yk_model_config *config);

/* The width of a row of `q`. */
int64_t yk_attention_row_width(const struct yk_attention_shape *shape);

void yk_attention_allocate_saved(const struct yk_net *net, int32_t layer,
                                 const struct yk_attention_shape *shape,
                                 const struct yk_batch_shape *batch,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_attention_saved *out);

/* to = stream + attention(x). `weights` is memory for dequantised weights. */
void yk_attention_forward(const struct yk_layer_pass *pass, const struct yk_attention_shape *shape,
                          const struct yk_attention_saved *saved, const void *x, const void *stream,
                          void *weights, void *to);

/* dx = add + the gradient of x, where `gradient` is the gradient of `to`. Also computes the
 * gradient of the memory. `add` and `dx` may equal `gradient`; `dx` may equal workspace->narrow. */
void yk_attention_backward(const struct yk_layer_pass *pass, const struct yk_attention_shape *shape,
                           const struct yk_attention_saved *saved,
                           const struct yk_residual_workspace *workspace, const void *x,
                           const void *gradient, const void *add, void *dx);

#endif
