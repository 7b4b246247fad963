/* Norm: layer norm or RMS norm over the model's width, inside blocks and after them. */
#ifndef YK_NN_LAYERS_NORM_H
#define YK_NN_LAYERS_NORM_H

#include "nn/layers/projection.h"

/* A norm, with the statistics that forward saves for backward. */
struct yk_norm {
    int32_t weight;         /* parameter number; the bias of a layer norm follows it */
    enum yk_precision type; /* of input and output */
    float *mean;            /* (rows); NULL: RMS norm */
    float *rstd;            /* (rows) */
};

struct yk_norm yk_norm_allocate(const struct yk_net *net, int32_t weight, enum yk_precision type,
                                int64_t rows, struct yk_bump_allocator *allocator);

void yk_norm_forward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                     void *y);

/* dx = add + the gradient of x. Adds to the gradients of its parameters unless they are frozen. */
void yk_norm_backward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                      const void *dy, const void *add, void *dx);

#endif
