/*
 * MLP: the feed-forward part of a block, without its norm: down(activation(up x)), or gated,
 * down(silu(gate x) · up x). Its two projections follow those of self-attention. The gate and the
 * up projection of a gated MLP are one projection of two parts.
 */
#ifndef YK_NN_LAYERS_MLP_H
#define YK_NN_LAYERS_MLP_H

#include "nn/layers/attention.h"

enum {
    YK_MLP_PROJECTION_UP = YK_ATTENTION_PROJECTION_END,
    YK_MLP_PROJECTION_DOWN,
    YK_MLP_PROJECTION_END,
};

/* Activations that forward saves for backward, in addition to the input. */
struct yk_mlp_saved {
    void *up;       /* (rows, F) before the activation; NULL for ReLU, which needs only its output.
                       Gated: (rows, 2F), which backward overwrites with its gradient */
    void *active;   /* (rows, F) after the activation */
    void *inner_up; /* x · Aᵀ of the adapter of each projection; NULL: no adapter */
    void *inner_down;
};

void yk_mlp_allocate_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                           struct yk_bump_allocator *allocator, struct yk_mlp_saved *out);

/* to = stream + mlp(x). `to` NULL: computes only what backward needs. */
void yk_mlp_forward(const struct yk_layer_pass *pass, const struct yk_mlp_saved *saved,
                    const void *x, const void *stream, void *weights, void *to);

/* dx = add + the gradient of x, where `gradient` is the gradient of `to`. `add` and `dx` may equal
 * `gradient`. */
void yk_mlp_backward(const struct yk_layer_pass *pass, const struct yk_mlp_saved *saved,
                     const struct yk_residual_workspace *workspace, const void *x,
                     const void *gradient, const void *add, void *dx);

/* The config's activation as the epilogue of a matrix product. `backward`: its derivative. */
enum yk_epilogue yk_mlp_epilogue(const struct yk_model_config *config, bool backward);

#endif
