/* Norm: layer norm or RMS norm, over the model's width, over all heads or over each head. */
#ifndef YK_NN_LAYERS_NORM_H
#define YK_NN_LAYERS_NORM_H

#include "nn/layers/projection.h"

/* A norm, with the statistics that the forward pass saves for the backward pass. */
struct yk_norm {
    /* Number of the weight in the layer's parameters. The number of the bias of a layer norm is
     * weight + 1. */
    int32_t weight;
    enum yk_precision type; /* type of the input and of the output */
    int64_t groups;         /* groups of a row that are normalised separately */
    int64_t width;          /* width of a group, and of the weight */
    float *mean;            /* (rows, groups) mean; NULL means: RMS norm */
    float *rstd; /* (rows, groups) reciprocal of the standard deviation, or of the root mean square
                  */
};

/* Returns the number of parameters of a norm: the weight, and the bias of a layer norm. */
static inline int32_t yk_norm_parameter_count(const struct yk_model_config *config)
{
    return config->norm == YK_NORM_LAYER ? 2 : 1;
}

/* Returns a norm of `groups` groups of `width` elements, with memory for its statistics. */
struct yk_norm yk_norm_allocate_grouped_statistics(const struct yk_net *net, int32_t weight,
                                                   enum yk_precision type, int64_t rows,
                                                   int64_t groups, int64_t width,
                                                   struct yk_bump_allocator *allocator);

/* Returns a norm over the model's width, with memory for its statistics. */
struct yk_norm yk_norm_allocate_statistics(const struct yk_net *net, int32_t weight,
                                           enum yk_precision type, int64_t rows,
                                           struct yk_bump_allocator *allocator);

/* Computes y = add + the norm of x. `add` may be NULL. */
void yk_norm_forward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                     const void *add, void *y);

/* Computes dx = add + the gradient of x. `dy` is the gradient of `y`; `add` may be NULL. Unless the
 * norm's parameters are frozen, also adds their gradients to the gradients in the store. */
void yk_norm_backward(const struct yk_layer_pass *pass, const struct yk_norm *norm, const void *x,
                      const void *dy, const void *add, void *dx);

/* Returns the op that computes the norm of a part of each row. The strides are the widths of whole
 * rows. */
struct yk_norm_op yk_norm_make_forward_op(const struct yk_layer_pass *pass,
                                          const struct yk_norm *norm, const void *x,
                                          int64_t x_stride, void *y, int64_t y_stride);

/* Returns the op of the backward pass. It replaces the gradient of `y` with that of `x`. */
struct yk_norm_backward_op yk_norm_make_backward_op(const struct yk_layer_pass *pass,
                                                    const struct yk_norm *norm, const void *x,
                                                    int64_t x_stride, void *gradient,
                                                    int64_t gradient_stride);

#endif
