/*
 * MLP: the feed-forward part of a block, wherever its norm stands: down(activation(up x)), or
 * gated, down(silu(gate x) · up x). Its two projections follow those of self-attention; a gated
 * one's gate and up are one projection of two parts.
 */
#ifndef YK_NN_LAYERS_MLP_H
#define YK_NN_LAYERS_MLP_H

#include "nn/layers/attention.h"

enum {
    YK_MLP_UP = YK_ATTENTION_END,
    YK_MLP_DOWN,
    YK_MLP_END,
};

/* What is kept from forward to backward, besides the input. */
struct yk_mlp_saved {
    void *up; /* (rows, F) before the activation; NULL for ReLU, whose output is enough; of a gated
                 one (rows, 2F), which backward overwrites with their gradient */
    void *active; /* (rows, F) */
    void *inner_up;
    void *inner_down;
};

void yk_mlp_carve(const struct yk_net *net, int32_t layer, int64_t rows, struct yk_carver *carver,
                  struct yk_mlp_saved *out);

/* to = stream + mlp(x). `to` NULL: only what backward needs. */
void yk_mlp_forward(const struct yk_pass *pass, const struct yk_mlp_saved *saved, const void *x,
                    const void *stream, void *weights, void *to);

/* From `gradient`, that of `to`: dx = add + the gradient of x. Both `add` and `dx` may be
 * `gradient` itself. */
void yk_mlp_backward(const struct yk_pass *pass, const struct yk_mlp_saved *saved,
                     const struct yk_residual_workspace *room, const void *x, const void *gradient,
                     const void *add, void *dx);

/* The config's activation as the epilogue of a product, or its gradient as that of the product that
 * goes back through it. */
enum yk_epilogue yk_mlp_epilogue(const struct yk_model_config *config, bool backward);

#endif
