/*
 * SIMD: vectors of four fp32 elements, for loops that compilers do not vectorise well. The vectors
 * use the vector extension of GCC and clang, which works on every processor.
 *
 * This header also has exp, tanh and erf of one number. They have no branches and no calls, so that
 * compilers can vectorise loops that use them. The relative error is at most 1e-7 (exp), 3e-7
 * (tanh) and 1.2e-7 (erf), except for subnormal results (below 2^-126). For ±∞ they return the
 * limit of the function; for NaN they return NaN. The polynomials are minimax approximations of
 *
 *   (e^r − 1 − r) / r²   for |r| ≤ (ln 2) / 2
 *   erf(x) / x − 1       for |x| < YK_CPU_ERF_SMALL_X_LIMIT, a polynomial in x²
 *   log(erfc(x))         for x from YK_CPU_ERF_SMALL_X_LIMIT to 4
 *
 * For x ≥ 4, erf(x) is 1 in fp32.
 */
#ifndef YK_BACKEND_CPU_MATH_SIMD_H
#define YK_BACKEND_CPU_MATH_SIMD_H

#include "backend/cpu/math/convert.h"

#include <stdint.h>

enum {
    YK_CPU_SIMD_WIDTH = 4
};

/* The alignment of 4 bytes allows loads from any position in an array of floats. */
typedef float yk_cpu_simd_vector __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t yk_cpu_simd_mask __attribute__((vector_size(16), aligned(4), may_alias));

static inline yk_cpu_simd_vector yk_cpu_simd_load(const float *from)
{
    return *(const yk_cpu_simd_vector *)from;
}

static inline void yk_cpu_simd_store(float *to, yk_cpu_simd_vector value)
{
    *(yk_cpu_simd_vector *)to = value;
}

static inline yk_cpu_simd_vector yk_cpu_simd_broadcast(float value)
{
    return (yk_cpu_simd_vector){value, value, value, value};
}

/* For each element: `one` where the mask is all ones, `other` where it is all zeros. */
static inline yk_cpu_simd_vector yk_cpu_simd_select(yk_cpu_simd_mask mask, yk_cpu_simd_vector one,
                                                    yk_cpu_simd_vector other)
{
    return (yk_cpu_simd_vector)(((yk_cpu_simd_mask)one & mask) | ((yk_cpu_simd_mask)other & ~mask));
}

/* For each element: b if b > a, otherwise a. If a or b is NaN, the result is a. */
static inline yk_cpu_simd_vector yk_cpu_simd_max(yk_cpu_simd_vector a, yk_cpu_simd_vector b)
{
    return yk_cpu_simd_select((yk_cpu_simd_mask)(b > a), b, a);
}

/* Returns 2^x for x ≤ 126, with a relative error of 2e-7. The result is 0 for x < −126 and NaN for
 * NaN. The polynomial is a minimax approximation of (2^r − 1) / r for |r| ≤ 1/2. */
static inline yk_cpu_simd_vector yk_cpu_simd_exp2(yk_cpu_simd_vector x)
{
    /* Adding 1.5 · 2^23 + 127 rounds to an integer, whose low bits are the biased exponent. */
    const yk_cpu_simd_vector shift = yk_cpu_simd_broadcast(0x1.8p23F + 127.0F);
    const yk_cpu_simd_vector shifted = x + shift;
    const yk_cpu_simd_vector rest = x - (shifted - shift);
    yk_cpu_simd_vector p = rest * 0x1.5bb97ep-10F + 0x1.3ceb1p-7F;
    p = p * rest + 0x1.c6b758p-5F;
    p = p * rest + 0x1.ebf9bap-3F;
    p = p * rest + 0x1.62e42ap-1F;
    const yk_cpu_simd_vector power = (yk_cpu_simd_vector)((yk_cpu_simd_mask)shifted << 23);
    p = p * rest * power + power;
    return (yk_cpu_simd_vector)((yk_cpu_simd_mask)p & ~(yk_cpu_simd_mask)(x < -126.0F));
}

#define YK_CPU_ERF_SMALL_X_LIMIT 0.9F

/* Splits x = n · ln 2 + rest with |rest| ≤ ln 2 / 2. Returns e^rest − 1. Requires |x| ≤ 180. */
static inline float yk_cpu_expm1_after_range_reduction(float x, int32_t *n)
{
    /* Adding 1.5 · 2^23 rounds to an integer, which is then in the low bits of the sum. */
    const float shift = 0x1.8p23F;
    const float shifted = x * 0x1.715476p0F + shift;
    const float whole = shifted - shift;
    *n = (int32_t)(yk_cpu_float_to_bits(shifted) - yk_cpu_float_to_bits(shift));
    /* ln 2 is split into two parts. The first part has few bits, so that its product with n is
     * exact. */
    const float rest = (x - whole * 0x1.62e4p-1F) - whole * 0x1.7f7d1cp-20F;
    float p = 0x1.6d995ap-10F;
    p = p * rest + 0x1.122838p-7F;
    p = p * rest + 0x1.555486p-5F;
    p = p * rest + 0x1.5554b0p-3F;
    p = p * rest + 0.5F;
    return p * (rest * rest) + rest;
}

/* Returns 2^n for n from −126 to 127. */
static inline float yk_cpu_exp2_of_integer(int32_t n)
{
    return yk_cpu_float_from_bits((uint32_t)(n + 127) << 23);
}

static inline float yk_cpu_exp(float x)
{
    int32_t n;
    float bounded = x < -104.0F ? -104.0F : x;   /* for smaller x the result is 0 */
    bounded = bounded > 89.0F ? 89.0F : bounded; /* for larger x the result is ∞ */
    const float less_one = yk_cpu_expm1_after_range_reduction(bounded, &n);
    /* 2^n is split into two factors, so that n = 128 and results smaller than 2^-126 are correct
     * too. */
    const int32_t half = n >> 1;
    const float scaled = less_one * yk_cpu_exp2_of_integer(half) + yk_cpu_exp2_of_integer(half);
    return scaled * yk_cpu_exp2_of_integer(n - half);
}

/* tanh |x| = −e / (2 + e) with e = exp(−2 |x|) − 1, which is exact near 0 too. */
static inline float yk_cpu_tanh(float x)
{
    int32_t n;
    const float positive = yk_cpu_float_from_bits(yk_cpu_float_to_bits(x) & 0x7fffffffU);
    const float bounded = positive > 10.0F ? 10.0F : positive; /* for larger x the result is 1 */
    const float less_one = yk_cpu_expm1_after_range_reduction(-2.0F * bounded, &n);
    const float whole = yk_cpu_exp2_of_integer(n);
    const float e = less_one * whole + (whole - 1.0F);
    const float result = -e / (2.0F + e);
    return yk_cpu_float_from_bits((yk_cpu_float_to_bits(result) & 0x7fffffffU) |
                                  (yk_cpu_float_to_bits(x) & 0x80000000U));
}

static inline float yk_cpu_erf(float x)
{
    const float square = x * x;
    float near = -0.00061113230F;
    near = near * square + 0.0050162352F;
    near = near * square - 0.026781963F;
    near = near * square + 0.11282230F;
    near = near * square - 0.37612534F;
    near = near * square + 0.12837915F;
    near = near * x + x;

    const float positive = yk_cpu_float_from_bits(yk_cpu_float_to_bits(x) & 0x7fffffffU);
    const float bounded = positive > 4.0F ? 4.0F : positive;
    float far = 0.00019822000F;
    far = far * bounded - 0.0030654934F;
    far = far * bounded + 0.022315225F;
    far = far * bounded - 0.10411370F;
    far = far * bounded - 0.63697606F;
    far = far * bounded - 1.1277972F;
    far = far * bounded - 0.00016644481F;
    far = 1.0F - yk_cpu_exp(far);
    far =
        yk_cpu_float_from_bits(yk_cpu_float_to_bits(far) | (yk_cpu_float_to_bits(x) & 0x80000000U));
    return positive < YK_CPU_ERF_SMALL_X_LIMIT ? near : far;
}

#endif
