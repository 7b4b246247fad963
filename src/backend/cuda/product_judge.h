/*
 * Product judge: whether a number of a product is what the op makes of its operands, as far as
 * numbers of its type can tell.
 *
 * fp16 ends at 65504, which training with a scaled loss runs into and is made to, and below 6e-5
 * its numbers are multiples of 6e-8: both are no fault of whoever computed it. For kernels and for
 * the host alike.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_JUDGE_H
#define YK_BACKEND_CUDA_PRODUCT_JUDGE_H

#include "base/precision.h"

#include <math.h>

#ifdef __CUDACC__
#define YK_JUDGE static __device__ __forceinline__
#else
#define YK_JUDGE static inline
#endif

enum yk_judged {
    YK_JUDGED_RIGHT,
    YK_JUDGED_WRONG,
    YK_JUDGED_UNTOLD, /* a zero would not be noticed there, or no number of the type can be right */
};

/* What a number should be. */
struct yk_judged_number {
    float product;  /* before anything is added to it; c may hold it meanwhile */
    float before;   /* the ending */
    float expected; /* in the end */
    float amount;   /* of the product's terms: the root of the sum of their squares */
};

/* How far a number may be from its own value, and from what its terms amount to: other orders of
 * summing are well below, and a term too many above. */
#define YK_JUDGE_TOLERANCE 0.02F
#define YK_JUDGE_FP16_MOST 65504.0F
#define YK_JUDGE_FP16_LEAST 1.2e-7F   /* two of its smallest steps, 2^-24 */
#define YK_JUDGE_ROUNDING 0.00390625F /* 2^-8: twice what rounding to bf16 may change */

YK_JUDGE float yk_judge_rounding(enum yk_precision type, const struct yk_judged_number *number)
{
    if (type == YK_PRECISION_FP32 || type == YK_PRECISION_TF32) {
        return 0.0F;
    }
    return YK_JUDGE_ROUNDING * (fabsf(number->product) + fabsf(number->before)) +
           (type == YK_PRECISION_FP16 ? YK_JUDGE_FP16_LEAST : 0.0F);
}

YK_JUDGE enum yk_judged yk_judge(enum yk_precision type, float made,
                                 const struct yk_judged_number *number)
{
    const float most =
        fmaxf(fabsf(number->expected), fmaxf(fabsf(number->product), fabsf(number->before)));
    const float off = YK_JUDGE_TOLERANCE * (fabsf(number->expected) + number->amount) +
                      yk_judge_rounding(type, number);
    if (!isfinite(number->product + number->before + number->expected + number->amount) ||
        (type == YK_PRECISION_FP16 && most + off >= YK_JUDGE_FP16_MOST)) {
        return YK_JUDGED_UNTOLD;
    }
    if (!(fabsf(made - number->expected) <= off)) {
        return YK_JUDGED_WRONG;
    }
    return fabsf(number->expected) > off ? YK_JUDGED_RIGHT : YK_JUDGED_UNTOLD;
}

#endif
