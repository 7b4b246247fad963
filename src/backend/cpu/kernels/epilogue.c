#include "backend/cpu/kernels/epilogue.h"

#include "backend/cpu/math/numbers.h"
#include "backend/cpu/math/vector.h"
#include "backend/cpu/math/vector_math.h"

#include <assert.h>
#include <string.h>

/* GELU(x) = x · Φ(x); Hendrycks and Gimpel 2016. The tanh form takes Φ(x) = (1 + tanh u) / 2 =
 * 1 / (1 + 2^t) with u = √(2/π) (x + 0.044715 x³) and t = −2 u log2 e. */
#define TWICE_ROOT_TWO_OVER_PI 1.59576912160573071F
#define LOG2_E 1.44269504088896341F
#define CUBE 0.044715F
#define ROOT_HALF 0.70710678118654752F
#define ROOT_TWO_PI_INVERSE 0.39894228040143268F

/* 1 / (1 + 2^t) */
static inline yk_cpu_vector sigmoid_of(yk_cpu_vector t)
{
    const yk_cpu_vector most = yk_cpu_vector_broadcast(126);
    const yk_cpu_vector bounded = yk_cpu_vector_select((yk_cpu_vector_bits)(t > most), most, t);
    return 1.0F / (1.0F + yk_cpu_vector_exp2(bounded));
}

static inline yk_cpu_vector gelu_cdf(yk_cpu_vector x)
{
    const float first = -TWICE_ROOT_TWO_OVER_PI * LOG2_E;
    return sigmoid_of(x * (x * x * (first * CUBE) + first));
}

static inline yk_cpu_vector gelu(yk_cpu_vector x, yk_cpu_vector aux)
{
    (void)aux;
    return x * gelu_cdf(x);
}

/* The gradient Φ(x) + x Φ'(x), with Φ' = 2 u' Φ (1 − Φ). */
static inline yk_cpu_vector gelu_backward(yk_cpu_vector x, yk_cpu_vector aux)
{
    const yk_cpu_vector cdf = gelu_cdf(aux);
    const yk_cpu_vector twice_slope_of_u =
        aux * aux * (3.0F * CUBE * TWICE_ROOT_TWO_OVER_PI) + TWICE_ROOT_TWO_OVER_PI;
    return x * (cdf + aux * cdf * (1.0F - cdf) * twice_slope_of_u);
}

/* SiLU(x) = x · s(x) with s the logistic function; the gradient is s (1 + x (1 − s)). */
static inline yk_cpu_vector silu(yk_cpu_vector x, yk_cpu_vector aux)
{
    (void)aux;
    return x * sigmoid_of(x * -LOG2_E);
}

static inline yk_cpu_vector silu_backward(yk_cpu_vector x, yk_cpu_vector aux)
{
    const yk_cpu_vector cdf = sigmoid_of(aux * -LOG2_E);
    return x * cdf * (1.0F + aux * (1.0F - cdf));
}

/* x[i] = function(x[i], aux[i]), four at a time; the last few through a register of their own. */
static inline __attribute__((always_inline)) void
apply(yk_cpu_vector (*function)(yk_cpu_vector x, yk_cpu_vector aux), float *x, const float *aux,
      int64_t count)
{
    int64_t i = 0;
    for (; i + YK_CPU_VECTOR_WIDTH <= count; i += YK_CPU_VECTOR_WIDTH) {
        yk_cpu_vector_store(x + i,
                            function(yk_cpu_vector_load(x + i), yk_cpu_vector_load(aux + i)));
    }
    if (i < count) {
        const size_t bytes = (size_t)(count - i) * sizeof *x;
        yk_cpu_vector last = {0};
        yk_cpu_vector last_aux = {0};
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

static void add_to(float *x, const float *added, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        x[i] += added[i];
    }
}

static void activate(enum yk_epilogue epilogue, float *x, int64_t count)
{
    switch (epilogue) {
    case YK_EPILOGUE_GELU:
        apply(gelu, x, x, count);
        break;
    case YK_EPILOGUE_GELU_ERF:
        for (int64_t i = 0; i < count; i++) {
            x[i] *= normal_cdf(x[i]);
        }
        break;
    case YK_EPILOGUE_RELU:
        for (int64_t i = 0; i < count; i++) {
            x[i] = x[i] < 0.0F ? 0.0F : x[i]; /* not-a-number stays */
        }
        break;
    case YK_EPILOGUE_SILU:
        apply(silu, x, x, count);
        break;
    default:
        break;
    }
}

static void activate_backward(enum yk_epilogue epilogue, float *x, const float *aux, int64_t count)
{
    switch (epilogue) {
    case YK_EPILOGUE_GELU_BACKWARD:
        apply(gelu_backward, x, aux, count);
        break;
    case YK_EPILOGUE_GELU_ERF_BACKWARD:
        for (int64_t i = 0; i < count; i++) {
            x[i] *= gelu_erf_derivative(aux[i]);
        }
        break;
    case YK_EPILOGUE_RELU_BACKWARD:
        for (int64_t i = 0; i < count; i++) {
            x[i] = aux[i] > 0.0F ? x[i] : 0.0F;
        }
        break;
    case YK_EPILOGUE_SILU_BACKWARD:
        apply(silu_backward, x, aux, count);
        break;
    default:
        break;
    }
}

/* The numbers as fp32: where they are, or brought to `buffer`. */
static const float *read_row(enum yk_precision type, const void *from, int64_t first, int64_t count,
                             float *buffer)
{
    if (yk_precision_bytes(type) == (int64_t)sizeof(float)) {
        return (const float *)from + first;
    }
    yk_cpu_numbers_load(type, from, first, count, buffer);
    return buffer;
}

bool yk_cpu_epilogue_is_needed(const struct yk_matmul_op *op)
{
    return !op->accumulate &&
           (op->bias || (op->add && op->add != op->c) || op->epilogue != YK_EPILOGUE_NONE);
}

void yk_cpu_epilogue_apply(const struct yk_matmul_op *op, int64_t i, int64_t j, int64_t count,
                           const float *bias, float *x)
{
    float buffer[YK_CPU_EPILOGUE_WIDTH];
    assert(count <= YK_CPU_EPILOGUE_WIDTH);
    const int64_t place = i * op->c_stride + j;
    const bool in_place = x == (float *)op->c + place;
    if (op->accumulate) {
        if (!in_place) {
            add_to(x, read_row(op->c_type, op->c, place, count, buffer), count);
        }
    } else {
        const int64_t aux_place = i * op->aux_stride + j;
        if (bias) {
            add_to(x, bias, count);
        }
        if (op->add && !(in_place && op->add == op->c)) {
            add_to(x, read_row(op->c_type, op->add, i * op->add_stride + j, count, buffer), count);
        }
        if (op->epilogue >= YK_EPILOGUE_GELU_BACKWARD) {
            activate_backward(op->epilogue, x,
                              read_row(op->c_type, op->aux, aux_place, count, buffer), count);
        } else {
            if (op->aux && op->epilogue != YK_EPILOGUE_RELU && op->epilogue != YK_EPILOGUE_NONE) {
                yk_cpu_numbers_store(op->c_type, x, count, op->aux, aux_place);
            }
            activate(op->epilogue, x, count);
        }
    }
    if (!in_place) {
        yk_cpu_numbers_store(op->c_type, x, count, op->c, place);
    }
}
