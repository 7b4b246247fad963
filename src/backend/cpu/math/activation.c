#include "backend/cpu/math/activation.h"

#include "backend/cpu/math/simd.h"

#include <string.h>

/* GELU(x) = x · Φ(x) (Hendrycks and Gimpel 2016). The tanh form approximates Φ(x) by
 * (1 + tanh u) / 2 = 1 / (1 + 2^t) with u = √(2/π) (x + 0.044715 x³) and t = −2 u log2 e. */
#define TWICE_ROOT_TWO_OVER_PI 1.59576912160573071F
#define LOG2_E 1.44269504088896341F
#define CUBE 0.044715F
#define ROOT_HALF 0.70710678118654752F
#define ROOT_TWO_PI_INVERSE 0.39894228040143268F

/* 1 / (1 + 2^t) */
static inline yk_cpu_simd_vector sigmoid_of(yk_cpu_simd_vector t)
{
    const yk_cpu_simd_vector most = yk_cpu_simd_broadcast(126);
    const yk_cpu_simd_vector bounded = yk_cpu_simd_select((yk_cpu_simd_mask)(t > most), most, t);
    return 1.0F / (1.0F + yk_cpu_simd_exp2(bounded));
}

static inline yk_cpu_simd_vector gelu_cdf(yk_cpu_simd_vector x)
{
    const float first = -TWICE_ROOT_TWO_OVER_PI * LOG2_E;
    return sigmoid_of(x * (x * x * (first * CUBE) + first));
}

static inline yk_cpu_simd_vector gelu(yk_cpu_simd_vector x, yk_cpu_simd_vector aux)
{
    (void)aux;
    return x * gelu_cdf(x);
}

/* The gradient Φ(x) + x Φ'(x), with Φ' = 2 u' Φ (1 − Φ). */
static inline yk_cpu_simd_vector gelu_backward(yk_cpu_simd_vector x, yk_cpu_simd_vector aux)
{
    const yk_cpu_simd_vector cdf = gelu_cdf(aux);
    const yk_cpu_simd_vector twice_slope_of_u =
        aux * aux * (3.0F * CUBE * TWICE_ROOT_TWO_OVER_PI) + TWICE_ROOT_TWO_OVER_PI;
    return x * (cdf + aux * cdf * (1.0F - cdf) * twice_slope_of_u);
}

/* SiLU(x) = x · s(x) with the sigmoid s. The gradient is s (1 + x (1 − s)). */
static inline yk_cpu_simd_vector silu(yk_cpu_simd_vector x, yk_cpu_simd_vector aux)
{
    (void)aux;
    return x * sigmoid_of(x * -LOG2_E);
}

static inline yk_cpu_simd_vector silu_backward(yk_cpu_simd_vector x, yk_cpu_simd_vector aux)
{
    const yk_cpu_simd_vector cdf = sigmoid_of(aux * -LOG2_E);
    return x * cdf * (1.0F + aux * (1.0F - cdf));
}

/* x[i] = function(x[i], aux[i]), four elements at a time. The last vector may be partly filled. */
static inline __attribute__((always_inline)) void
apply(yk_cpu_simd_vector (*function)(yk_cpu_simd_vector x, yk_cpu_simd_vector aux), float *x,
      const float *aux, int64_t count)
{
    int64_t i = 0;
    for (; i + YK_CPU_SIMD_WIDTH <= count; i += YK_CPU_SIMD_WIDTH) {
        yk_cpu_simd_store(x + i, function(yk_cpu_simd_load(x + i), yk_cpu_simd_load(aux + i)));
    }
    if (i < count) {
        const size_t bytes = (size_t)(count - i) * sizeof *x;
        yk_cpu_simd_vector last = {0};
        yk_cpu_simd_vector last_aux = {0};
        memcpy(&last, x + i, bytes);
        memcpy(&last_aux, aux + i, bytes);
        last = function(last, last_aux);
        memcpy(x + i, &last, bytes);
    }
}

static float normal_cdf(float x)
{
    return 0.5F + 0.5F * yk_cpu_erf(x * ROOT_HALF);
}

static float gelu_erf_derivative(float x)
{
    return normal_cdf(x) + x * ROOT_TWO_PI_INVERSE * yk_cpu_exp(-0.5F * x * x);
}

static float tanh_derivative(float x)
{
    const float t = yk_cpu_tanh(x);
    return 1.0F - t * t;
}

void yk_cpu_activation_apply(enum yk_activation activation, float *x, int64_t count)
{
    switch (activation) {
    case YK_ACTIVATION_GELU_TANH:
        apply(gelu, x, x, count);
        break;
    case YK_ACTIVATION_GELU:
        for (int64_t i = 0; i < count; i++) {
            x[i] *= normal_cdf(x[i]);
        }
        break;
    case YK_ACTIVATION_RELU:
        for (int64_t i = 0; i < count; i++) {
            x[i] = x[i] < 0.0F ? 0.0F : x[i]; /* not-a-number stays */
        }
        break;
    case YK_ACTIVATION_RELU_SQUARED:
        for (int64_t i = 0; i < count; i++) {
            x[i] = x[i] < 0.0F ? 0.0F : x[i] * x[i];
        }
        break;
    case YK_ACTIVATION_SILU:
        apply(silu, x, x, count);
        break;
    case YK_ACTIVATION_TANH:
        for (int64_t i = 0; i < count; i++) {
            x[i] = yk_cpu_tanh(x[i]);
        }
        break;
    }
}

void yk_cpu_activation_multiply_by_derivative(enum yk_activation activation, float *x,
                                              const float *aux, int64_t count)
{
    switch (activation) {
    case YK_ACTIVATION_GELU_TANH:
        apply(gelu_backward, x, aux, count);
        break;
    case YK_ACTIVATION_GELU:
        for (int64_t i = 0; i < count; i++) {
            x[i] *= gelu_erf_derivative(aux[i]);
        }
        break;
    case YK_ACTIVATION_RELU:
        for (int64_t i = 0; i < count; i++) {
            x[i] = aux[i] > 0.0F ? x[i] : 0.0F;
        }
        break;
    case YK_ACTIVATION_RELU_SQUARED:
        for (int64_t i = 0; i < count; i++) {
            x[i] = aux[i] > 0.0F ? x[i] * 2.0F * aux[i] : 0.0F;
        }
        break;
    case YK_ACTIVATION_SILU:
        apply(silu_backward, x, aux, count);
        break;
    case YK_ACTIVATION_TANH:
        for (int64_t i = 0; i < count; i++) {
            x[i] *= tanh_derivative(aux[i]);
        }
        break;
    }
}
