/*
 * Activation: activation functions and their derivatives on fp32 arrays. Any thread may call these
 * functions.
 */
#ifndef YK_BACKEND_CPU_MATH_ACTIVATION_H
#define YK_BACKEND_CPU_MATH_ACTIVATION_H

#include "base/activation.h"

#include <stdint.h>

/* x[i] = f(x[i]) */
void yk_cpu_activation_apply(enum yk_activation activation, float *x, int64_t count);

/* x[i] = x[i] · f'(aux[i]). For YK_ACTIVATION_RELU, `aux` may also be the output of f. */
void yk_cpu_activation_multiply_by_derivative(enum yk_activation activation, float *x,
                                              const float *aux, int64_t count);

#endif
