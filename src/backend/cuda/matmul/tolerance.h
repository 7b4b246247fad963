/*
 * Tolerance: whether a number of a product is what the op makes of its operands, as far as its type
 * can show. fp16 ends at 65504, which training with a scaled loss reaches on purpose, and below
 * 6e-5 its numbers are multiples of 6e-8. For kernels and the host alike.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_TOLERANCE_H
#define YK_BACKEND_CUDA_MATMUL_TOLERANCE_H

#include "base/precision.h"

#include <math.h>

#ifdef __CUDACC__
#define YK_TOLERANCE_FUNCTION static __device__ __forceinline__
#else
#define YK_TOLERANCE_FUNCTION static inline
#endif

enum yk_matmul_verdict {
    YK_MATMUL_WITHIN_TOLERANCE,
    YK_MATMUL_BEYOND_TOLERANCE,
    YK_MATMUL_TOLERANCE_UNKNOWN, /* a zero would not be noticed there, or no number of the type can
                                    be right */
};

/* What a number should be. */
struct yk_matmul_expected {
    float product;  /* before anything is added to it; c may hold it meanwhile */
    float before;   /* the epilogue */
    float expected; /* in the end */
    float amount;   /* of the product's terms: the root of the sum of their squares */
};

/* How far a number may be from its own value, and from what its terms amount to: other orders of
 * summing are well below, and a term too many above. */
#define YK_TOLERANCE_RELATIVE 0.02F
#define YK_TOLERANCE_FP16_MAX 65504.0F
#define YK_TOLERANCE_FP16_MIN 1.2e-7F     /* two of its smallest steps, 2^-24 */
#define YK_TOLERANCE_ROUNDING 0.00390625F /* 2^-8: twice what rounding to bf16 may change */

YK_TOLERANCE_FUNCTION float yk_matmul_tolerance_rounding(enum yk_precision type,
                                                         const struct yk_matmul_expected *number)
{
    if (type == YK_PRECISION_FP32 || type == YK_PRECISION_TF32) {
        return 0.0F;
    }
    return YK_TOLERANCE_ROUNDING * (fabsf(number->product) + fabsf(number->before)) +
           (type == YK_PRECISION_FP16 ? YK_TOLERANCE_FP16_MIN : 0.0F);
}

YK_TOLERANCE_FUNCTION enum yk_matmul_verdict
yk_matmul_tolerance_check(enum yk_precision type, float made,
                          const struct yk_matmul_expected *number)
{
    const float max =
        fmaxf(fabsf(number->expected), fmaxf(fabsf(number->product), fabsf(number->before)));
    const float off = YK_TOLERANCE_RELATIVE * (fabsf(number->expected) + number->amount) +
                      yk_matmul_tolerance_rounding(type, number);
    if (!isfinite(number->product + number->before + number->expected + number->amount) ||
        (type == YK_PRECISION_FP16 && max + off >= YK_TOLERANCE_FP16_MAX)) {
        return YK_MATMUL_TOLERANCE_UNKNOWN;
    }
    if (!(fabsf(made - number->expected) <= off)) {
        return YK_MATMUL_BEYOND_TOLERANCE;
    }
    return fabsf(number->expected) > off ? YK_MATMUL_WITHIN_TOLERANCE : YK_MATMUL_TOLERANCE_UNKNOWN;
}

#endif
