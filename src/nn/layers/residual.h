/*
 * Residual: projections whose output is added to the residual stream, with dropout; and the
 * workspace of a block's backward pass.
 */
#ifndef YK_NN_LAYERS_RESIDUAL_H
#define YK_NN_LAYERS_RESIDUAL_H

#include "nn/layers/projection.h"

/* The places of a layer where dropout is applied, see yk_layer_pass_dropout(). */
enum yk_dropout_site {
    YK_DROPOUT_EMBEDDING = 0, /* the only place of an embedding */
    YK_DROPOUT_ATTENTION = 0,
    YK_DROPOUT_OUT,
    YK_DROPOUT_DOWN,
    YK_DROPOUT_CROSS_ATTENTION,
    YK_DROPOUT_CROSS_OUT,
};

/* The workspace of a block's backward pass: gradients of intermediate results. */
struct yk_residual_workspace {
    void *wide;    /* (rows, widths.wide) */
    void *narrow;  /* (rows, widths.narrow) */
    void *memory;  /* (B·S, widths.memory) keys and values of cross-attention; else NULL */
    void *dropped; /* (rows, C); NULL: no dropout in the residual stream */
    void *d_inner; /* of the adapters */
    void *weights; /* for dequantised weights */
};

struct yk_residual_workspace_widths {
    int64_t wide;   /* the widest output of a projection */
    int64_t narrow; /* the widest input of a projection */
    int64_t memory; /* 2K in a decoder; else 0 */
};

void yk_residual_allocate_workspace(const struct yk_net *net, int32_t layer,
                                    const struct yk_batch_shape *batch,
                                    const struct yk_residual_workspace_widths *widths,
                                    struct yk_bump_allocator *allocator,
                                    struct yk_residual_workspace *out);

/* to = stream + dropout(projection of x). */
void yk_residual_add_projection(const struct yk_layer_pass *pass, int32_t projection,
                                enum yk_dropout_site place, const void *x, const void *stream,
                                void *inner, void *weights, void *to);

/* The gradient of that dropout's input. It is `gradient` itself, or computed in `dropped`. */
const void *yk_residual_dropout_backward(const struct yk_layer_pass *pass,
                                         enum yk_dropout_site place, const void *gradient,
                                         void *dropped);

/* Applies dropout to (rows, C) numbers in place. Its backward is the same function, applied to the
 * gradient. */
void yk_residual_dropout_in_place(const struct yk_layer_pass *pass, enum yk_dropout_site place,
                                  void *numbers);

#endif
