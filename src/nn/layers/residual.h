/*
 * Residual: adds the output of a projection to the residual stream, with dropout and the factor
 * `residual_scale` of the config. This header also has the workspace of a block's backward pass.
 */
#ifndef YK_NN_LAYERS_RESIDUAL_H
#define YK_NN_LAYERS_RESIDUAL_H

#include "nn/layers/projection.h"

/* The places in a layer where dropout is applied, see yk_layer_pass_dropout_options(). */
enum yk_dropout_site {
    YK_DROPOUT_EMBEDDING = 0, /* the only place in an embedding */
    YK_DROPOUT_ATTENTION = 0,
    YK_DROPOUT_OUT,
    YK_DROPOUT_DOWN,
    YK_DROPOUT_CROSS_ATTENTION,
    YK_DROPOUT_CROSS_OUT,
};

/* The workspace of a block's backward pass. It holds gradients of intermediate results. The widths
 * `wide`, `narrow` and `memory` are members of struct yk_backward_workspace_widths. */
struct yk_backward_workspace {
    void *wide;   /* (rows, wide) */
    void *narrow; /* (rows, narrow) */
    void *memory; /* (B·S, memory) gradients of the keys and values of cross-attention; NULL without
                     cross-attention */
    /* (rows, C) the gradient of the output of attention's or the MLP's last projection, if it is
     * not equal to the gradient of the residual stream: with dropout, with a factor, or with a norm
     * before the sum. Otherwise NULL. */
    void *branch;
    void *d_inner; /* `d_inner` of the adapters, see struct yk_projection_backward_arguments */
    void *weights; /* memory for dequantised weights */
};

struct yk_backward_workspace_widths {
    /* The larger of two widths: the width of queries, keys and values together, or the width of the
     * input of the MLP's down projection. */
    int64_t wide;
    int64_t narrow; /* the width of the model or of all query heads together, the larger one */
    int64_t memory; /* 2K in a decoder, where K is the width of all key heads; otherwise 0 */
};

void yk_residual_allocate_backward_workspace(const struct yk_net *net, int32_t layer,
                                             const struct yk_batch_shape *batch,
                                             const struct yk_backward_workspace_widths *widths,
                                             struct yk_bump_allocator *allocator,
                                             struct yk_backward_workspace *out);

/* Computes to = stream + factor · dropout(projection of x). If `stream` is NULL, it is 0. */
void yk_residual_add_projection_output(const struct yk_layer_pass *pass, int32_t projection,
                                       enum yk_dropout_site place, const void *x,
                                       const void *stream, void *inner, void *weights, void *to);

/* Returns the gradient of the projection's output in yk_residual_add_projection_output().
 * `gradient` is the gradient of `to`. Without dropout and factor, the result is `gradient` itself;
 * otherwise it is in `branch`, which may be equal to `gradient`. */
const void *yk_residual_backward(const struct yk_layer_pass *pass, enum yk_dropout_site place,
                                 const void *gradient, void *branch);

/* Applies dropout to an array of shape (rows, C) in place. The backward pass applies the same
 * function to the gradient. */
void yk_residual_apply_dropout_in_place(const struct yk_layer_pass *pass,
                                        enum yk_dropout_site place, void *numbers);

#endif
