/* Norm: the norms inside blocks and after them, forward and backward. */
#ifndef YK_NN_LAYERS_NORM_H
#define YK_NN_LAYERS_NORM_H

#include "nn/layers/projection.h"

/* A norm over the model's width, with what is kept from forward to backward besides its input. */
struct yk_norm {
    int32_t weight;         /* among the layer's parameters; a layer norm's bias comes after it */
    enum yk_precision type; /* of what goes in and out */
    float *mean;            /* (rows); NULL: the root-mean-square norm */
    float *rstd;            /* (rows) */
};

struct yk_norm yk_norm_carve(const struct yk_net *net, int32_t weight, enum yk_precision type,
                             int64_t rows, struct yk_carver *carver);

/* Frozen parameters get no gradient. dx = add + what goes back through the norm. */
void yk_norm_forward(const struct yk_pass *pass, const struct yk_norm *norm, const void *x,
                     void *y);
void yk_norm_backward(const struct yk_pass *pass, const struct yk_norm *norm, const void *x,
                      const void *dy, const void *add, void *dx);

#endif
