/*
 * Attention: the attention of a block, out(attention(queries, keys, values)), without its norm. It
 * is self-attention, or cross-attention to the output of another layer. This output is called the
 * memory. In self-attention, one array has a row for each token, with its queries, keys and
 * values. In cross-attention, there are two arrays: one has a row of queries for each token, the
 * other has a row of keys and values for each token of the memory. Q is the width of all query
 * heads together. K is the width of all key heads together, and also of all value heads.
 *
 * Self-attention may normalise queries and keys, and then rotate them by their positions.
 */
#ifndef YK_NN_LAYERS_ATTENTION_H
#define YK_NN_LAYERS_ATTENTION_H

#include "nn/layers/norm.h"
#include "nn/layers/residual.h"

/* The first two projections of every block. These are their numbers in the block. */
enum {
    YK_ATTENTION_PROJECTION_QKV,
    YK_ATTENTION_PROJECTION_OUT,
    YK_ATTENTION_PROJECTION_END,
};

struct yk_attention_config {
    int32_t queries; /* number of the projection that computes the queries; in self-attention, it
                        also computes keys and values */
    int32_t memory;  /* number of the projection that computes keys and values from the memory; −1
                        means: self-attention */
    int32_t out;     /* number of the output projection */
    enum yk_dropout_site drop_attention;
    enum yk_dropout_site drop_out;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    unsigned flags; /* of the block, see YK_BLOCK_WINDOW */
    int64_t window; /* 0 means: no window */
    /* Numbers of the weights of the norms of queries and keys; −1 means: no such norms. */
    int32_t q_norm;
    int32_t k_norm;
    bool interleaved; /* a row has q, k and v of the first head, then those of the next head */
    bool causal;
    bool measured; /* keys of padding are masked, see `lengths` in struct yk_layer_pass */
};

/* Activations that the forward pass saves for the backward pass, in addition to the input. */
struct yk_attention_saved_activations {
    void *q;  /* (rows, Q + 2K) queries, keys and values, after rotary positions; in cross-attention
                 (rows, Q), only queries; with norms, before the norms */
    void *kv; /* (B·S, 2K) keys and values of cross-attention; NULL in self-attention */
    void *attended; /* (rows, Q) input of the output projection */
    /* `inner` of each projection, see struct yk_projection_forward_arguments; NULL means: no
     * adapter. */
    void *inner_q;
    void *inner_kv;
    void *inner_out;
    float *sums; /* (B, H, T) log-sum-exp of the scores */
    /* With norms of queries and keys: (rows, Q + K) queries and keys after norms and rotary
     * positions. Otherwise NULL. */
    void *rotated;
    struct yk_norm q_norm;
    struct yk_norm k_norm;
};

void yk_attention_allocate_saved(const struct yk_net *net, int32_t layer,
                                 const struct yk_attention_config *shape,
                                 const struct yk_batch_shape *batch,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_attention_saved_activations *out);

/* Computes to = stream + dropout(attention(x)), where `stream` may be NULL. `weights` is memory for
 * dequantised weights. */
void yk_attention_forward(const struct yk_layer_pass *pass, const struct yk_attention_config *shape,
                          const struct yk_attention_saved_activations *saved, const void *x,
                          const void *stream, void *weights, void *to);

/* Computes dx = add + the gradient of x. `gradient` is the gradient of `to`. In cross-attention,
 * also computes the gradient of the memory. `add` and `dx` may be the same array as `gradient`.
 * `dx` may be workspace->narrow, or NULL if it is not needed. */
void yk_attention_backward(const struct yk_layer_pass *pass,
                           const struct yk_attention_config *shape,
                           const struct yk_attention_saved_activations *saved,
                           const struct yk_backward_workspace *workspace, const void *x,
                           const void *gradient, const void *add, void *dx);

#endif
