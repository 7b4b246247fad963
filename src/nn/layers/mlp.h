/*
 * MLP: the feed-forward part of a block, without its norm. It computes down(activation(up x)). A
 * gated MLP computes down(silu(gate x) · up x); its gate and its up projection are one projection
 * with two parts. The two projections of an MLP follow those of self-attention.
 */
#ifndef YK_NN_LAYERS_MLP_H
#define YK_NN_LAYERS_MLP_H

#include "nn/layers/attention.h"

enum {
    YK_MLP_PROJECTION_UP = YK_ATTENTION_PROJECTION_END,
    YK_MLP_PROJECTION_DOWN,
    YK_MLP_PROJECTION_END,
};

/* Activations that the forward pass saves for the backward pass, in addition to the input. */
struct yk_mlp_saved_activations {
    void *up; /* (rows, F) before the activation; NULL for ReLU, whose backward pass needs only its
                 output. In a gated MLP (rows, 2F), which the backward pass overwrites with its
                 gradient */
    void *active;   /* (rows, F) after the activation */
    void *inner_up; /* x · Aᵀ of the adapter of each projection; NULL means: no adapter */
    void *inner_down;
};

void yk_mlp_allocate_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                           struct yk_bump_allocator *allocator,
                           struct yk_mlp_saved_activations *out);

/* Computes to = stream + mlp(x). If `to` is NULL, computes only what the backward pass needs. */
void yk_mlp_forward(const struct yk_layer_pass *pass, const struct yk_mlp_saved_activations *saved,
                    const void *x, const void *stream, void *weights, void *to);

/* Computes dx = add + the gradient of x, where `gradient` is the gradient of `to`. `add` and `dx`
 * may equal `gradient`. */
void yk_mlp_backward(const struct yk_layer_pass *pass, const struct yk_mlp_saved_activations *saved,
                     const struct yk_backward_workspace *workspace, const void *x,
                     const void *gradient, const void *add, void *dx);

/* Returns the activation of the config as the epilogue of a matrix product, or its derivative if
 * `backward` is true. */
enum yk_matmul_epilogue yk_mlp_activation_epilogue(const struct yk_model_config *config,
                                                   bool backward);

#endif
