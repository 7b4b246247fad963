/*
 * MLP: the feed-forward part of a block, without its norm. It computes down(activation(up(x))). A
 * gated MLP computes down(activation(gate(x)) · up(x)); there, one projection computes gate and up.
 * The numbers of the two projections of an MLP follow the numbers of the projections of
 * self-attention.
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
    /* (rows, F) before the activation. NULL for ReLU, because its backward pass needs only
     * `active`. In a gated MLP, (rows, 2F) for gate and up, without what adapters add if the op of
     * the gate adds it; the backward pass overwrites them with their gradients. */
    void *up;
    void *active; /* (rows, F) after the activation */
    /* `inner` of each projection, see struct yk_projection_forward_arguments; NULL means: no
     * adapter. */
    void *inner_up;
    void *inner_down;
};

void yk_mlp_allocate_saved(const struct yk_net *net, int32_t layer, int64_t rows,
                           struct yk_bump_allocator *allocator,
                           struct yk_mlp_saved_activations *out);

/* Computes to = stream + dropout(mlp(x)), where `stream` may be NULL. If `to` is NULL, computes
 * only what the backward pass needs. */
void yk_mlp_forward(const struct yk_layer_pass *pass, const struct yk_mlp_saved_activations *saved,
                    const void *x, const void *stream, void *weights, void *to);

/* Computes dx = add + the gradient of x. `gradient` is the gradient of `to`. `add` and `dx` may be
 * the same array as `gradient`. `dx` may be NULL if it is not needed. */
void yk_mlp_backward(const struct yk_layer_pass *pass, const struct yk_mlp_saved_activations *saved,
                     const struct yk_backward_workspace *workspace, const void *x,
                     const void *gradient, const void *add, void *dx);

/* Returns the epilogue of a matrix product that computes an activation. If `backward` is true,
 * returns the epilogue that computes the gradient of the activation's input. YK_ACTIVATION_TANH has
 * no epilogue. */
enum yk_matmul_epilogue yk_mlp_activation_epilogue(enum yk_activation activation, bool backward);

#endif
