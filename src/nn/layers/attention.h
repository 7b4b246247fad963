/* Attention: out(attention(queries, keys, values)) of a block, wherever its norm stands: self-
 * attention, or cross-attention to another stream. Queries, keys and values of self-attention
 * lie side by side in one row; so do keys and values of cross-attention. */
#ifndef YK_NN_LAYERS_ATTENTION_H
#define YK_NN_LAYERS_ATTENTION_H

#include "nn/layers/residual.h"

/* The projections of every block begin with these. */
enum {
    YK_ATTENTION_QKV,
    YK_ATTENTION_OUT,
    YK_ATTENTION_END,
};

struct yk_attention_shape {
    int32_t queries; /* of queries, and in self-attention of keys and values */
    int32_t memory;  /* of keys and values of cross-attention; −1: self-attention */
    int32_t out;
    enum yk_dropout_place drop_attention;
    enum yk_dropout_place drop_out;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    bool causal;
    bool measured; /* keys past the pass's lengths are masked */
};

/* What is kept from forward to backward, besides the input. */
struct yk_attention_saved {
    void *q;        /* (rows, Q + 2K), rotated where positions are rotary; (rows, Q) of cross */
    void *kv;       /* (B·S, 2K) of cross-attention; else NULL */
    void *attended; /* (rows, Q) */
    void *inner_q;
    void *inner_kv;
    void *inner_out;
    float *sums; /* (B, H, T) */
};

/* Causal self-attention with the config's heads. */
struct yk_attention_shape yk_attention_causal(const struct yk_model_config *config);

/* Numbers in a row of `q`. */
int64_t yk_attention_width(const struct yk_attention_shape *shape);

void yk_attention_carve(const struct yk_net *net, int32_t layer,
                        const struct yk_attention_shape *shape, const struct yk_batch_shape *batch,
                        struct yk_carver *carver, struct yk_attention_saved *out);

/* to = stream + attention(x). */
void yk_attention_forward(const struct yk_pass *pass, const struct yk_attention_shape *shape,
                          const struct yk_attention_saved *saved, const void *x, const void *stream,
                          void *weights, void *to);

/* From `gradient`, that of `to`: dx = add + the gradient of x, and that of what is attended to.
 * Both `add` and `dx` may be `gradient` itself; dx may be room->narrow. */
void yk_attention_backward(const struct yk_pass *pass, const struct yk_attention_shape *shape,
                           const struct yk_attention_saved *saved,
                           const struct yk_residual_workspace *room, const void *x,
                           const void *gradient, const void *add, void *dx);

#endif
