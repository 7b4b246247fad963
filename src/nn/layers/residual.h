/* Residual: products that add to the residual stream, with dropout, and the workspace of going
 * backward through a block. */
#ifndef YK_NN_LAYERS_RESIDUAL_H
#define YK_NN_LAYERS_RESIDUAL_H

#include "nn/layers/projection.h"

/* Places of dropout, see yk_pass_dropout(). */
enum yk_dropout_place {
    YK_DROPOUT_EMBEDDING = 0, /* the only one of its layer */
    YK_DROPOUT_ATTENTION = 0,
    YK_DROPOUT_OUT,
    YK_DROPOUT_DOWN,
    YK_DROPOUT_CROSS_ATTENTION,
    YK_DROPOUT_CROSS_OUT,
};

/* Gradients on their way through a block. */
struct yk_residual_workspace {
    void *wide;    /* (rows, the widest product's output that needs one) */
    void *narrow;  /* (rows, the widest product's input) */
    void *memory;  /* (B·S, 2K) of a decoder: that of keys and values; else NULL */
    void *dropped; /* (rows, C) where anything is dropped from the stream */
    void *d_inner;
    void *weights;
};

struct yk_residual_widths {
    int64_t wide;
    int64_t narrow;
    int64_t memory;
};

void yk_residual_carve_workspace(const struct yk_net *net, int32_t layer,
                                 const struct yk_batch_shape *batch,
                                 const struct yk_residual_widths *widths, struct yk_carver *carver,
                                 struct yk_residual_workspace *out);

/* to = stream + dropout(projection of x). */
void yk_residual_add(const struct yk_pass *pass, int32_t projection, enum yk_dropout_place place,
                     const void *x, const void *stream, void *inner, void *weights, void *to);

/* The gradient before that dropout: `gradient` itself, or made in `room`. */
const void *yk_residual_backward(const struct yk_pass *pass, enum yk_dropout_place place,
                                 const void *gradient, void *room);

/* Dropout of (rows, C) numbers in place; the same op on the gradient goes backward. */
void yk_residual_dropout(const struct yk_pass *pass, enum yk_dropout_place place, void *numbers);

#endif
