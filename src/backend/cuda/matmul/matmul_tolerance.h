/*
 * Matmul tolerance: whether one element of a matmul output is correct within the precision of its
 * type. In fp16, numbers above 65504 overflow; training with a scaled loss causes such overflows on
 * purpose. fp16 numbers below 6e-5 are multiples of 6e-8. Kernels and host code may include this
 * header.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_MATMUL_TOLERANCE_H
#define YK_BACKEND_CUDA_MATMUL_MATMUL_TOLERANCE_H

#include "backend/ops.h"

#include <math.h>

enum yk_matmul_tolerance_result {
    YK_MATMUL_WITHIN_TOLERANCE,
    YK_MATMUL_BEYOND_TOLERANCE,
    /* The element is within the tolerance, but 0 would be too; or the expected value or an
     * intermediate value is too large for the type. */
    YK_MATMUL_TOLERANCE_UNDECIDED,
};

/* The expected value of one element, computed in fp32. */
struct yk_matmul_expected_element {
    float product;  /* value before bias and add; may be stored in c, rounded */
    float before;   /* the value before the epilogue */
    float expected; /* the final value */
    float amount;   /* square root of the sum of squares of the product's terms */
};

/* Allowed error, relative to |expected| + amount. Another order of summation causes a much smaller
 * error; a missing or doubled term causes a larger one. */
#define YK_MATMUL_TOLERANCE_RELATIVE 0.02F
#define YK_MATMUL_TOLERANCE_LARGEST_FP16 65504.0F
#define YK_MATMUL_TOLERANCE_FP16_ABSOLUTE 1.2e-7F /* 2 · 2^-24: twice the smallest fp16 number */
#define YK_MATMUL_TOLERANCE_ROUNDING_RELATIVE                                                      \
    0.00390625F /* 2^-8: the maximum rounding error of bf16 */

/* Returns the error that rounding of intermediate values may cause. */
YK_HOST_OR_DEVICE_INLINE float
yk_matmul_tolerance_rounding_error(enum yk_precision type,
                                   const struct yk_matmul_expected_element *number)
{
    if (type == YK_PRECISION_FP32 || type == YK_PRECISION_TF32) {
        return 0.0F;
    }
    return YK_MATMUL_TOLERANCE_ROUNDING_RELATIVE *
               (fabsf(number->product) + fabsf(number->before)) +
           (type == YK_PRECISION_FP16 ? YK_MATMUL_TOLERANCE_FP16_ABSOLUTE : 0.0F);
}

YK_HOST_OR_DEVICE_INLINE enum yk_matmul_tolerance_result
yk_matmul_tolerance_check_element(enum yk_precision type, float made,
                                  const struct yk_matmul_expected_element *number)
{
    const float max =
        fmaxf(fabsf(number->expected), fmaxf(fabsf(number->product), fabsf(number->before)));
    const float off = YK_MATMUL_TOLERANCE_RELATIVE * (fabsf(number->expected) + number->amount) +
                      yk_matmul_tolerance_rounding_error(type, number);
    if (!isfinite(number->product + number->before + number->expected + number->amount) ||
        (type == YK_PRECISION_FP16 && max + off >= YK_MATMUL_TOLERANCE_LARGEST_FP16)) {
        return YK_MATMUL_TOLERANCE_UNDECIDED;
    }
    if (!(fabsf(made - number->expected) <= off)) {
        return YK_MATMUL_BEYOND_TOLERANCE;
    }
    return fabsf(number->expected) > off ? YK_MATMUL_WITHIN_TOLERANCE
                                         : YK_MATMUL_TOLERANCE_UNDECIDED;
}

#endif
