/* Norm: the norms inside blocks and after them, forward and backward. */
#ifndef YK_NN_NORM_H
#define YK_NN_NORM_H

#include "nn/site.h"

/*
 * A norm over the model's width. Parameters: the weight and, in a layer norm, the bias after it;
 * without a mean it is the root-mean-square norm. Frozen ones get no gradient. dx = add + what goes
 * back through the norm.
 */
void yk_norm_forward(const struct yk_pass *pass, int32_t weight, const void *x, void *y,
                     float *mean, float *rstd);
void yk_norm_backward(const struct yk_pass *pass, int32_t weight, const void *x, const void *dy,
                      const void *add, void *dx, const float *mean, const float *rstd);

#endif
