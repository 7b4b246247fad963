/* Norm: layer norm or RMS norm over the model's width, in blocks and in other layers. */
#ifndef YK_NN_LAYERS_NORM_H
#define YK_NN_LAYERS_NORM_H

#include "nn/layers/projection.h"

/* A norm, with the statistics that the forward pass saves for the backward pass. */
struct yk_norm {
    /* Number of the weight in the layer's parameters. The number of the bias of a layer norm is
     * weight + 1. */
    int32_t weight;
    enum yk_precision type; /* type of the input and of the output */
    float *mean;            /* (rows) mean; NULL means: RMS norm */
    float *rstd; /* (rows) reciprocal of the standard deviation, or of the root mean square */
};

struct yk_norm yk_norm_allocate_statistics(const struct yk_net *net, int32_t weight,
                                           enum yk_precision type, int64_t rows,
                                           struct yk_bump_allocator *allocator);

void yk_norm_forward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                     void *y);

/* Computes dx = add + the gradient of x. `dy` is the gradient of `y`; `add` may be NULL. Unless the
 * norm's parameters are frozen, also adds their gradients to the gradients in the store. */
void yk_norm_backward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                      const void *dy, const void *add, void *dx);

#endif
