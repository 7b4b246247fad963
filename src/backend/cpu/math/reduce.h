/*
 * Reduce: sums and maxima of fp32 arrays. A sum is computed as sixteen partial sums, which are then
 * added in pairs, as a tree. The order of additions is therefore the same with every compiler and
 * SIMD width.
 */
#ifndef YK_BACKEND_CPU_MATH_REDUCE_H
#define YK_BACKEND_CPU_MATH_REDUCE_H

#include "backend/cpu/math/convert.h"

#include <math.h>
#include <stdint.h>

enum {
    YK_CPU_REDUCE_PARTIAL_SUM_COUNT = 16,
};

/* Returns the sum of YK_CPU_REDUCE_PARTIAL_SUM_COUNT partial sums. Overwrites the partial sums. */
static inline float yk_cpu_reduce_add_partial_sums(float *parts)
{
    for (int half = YK_CPU_REDUCE_PARTIAL_SUM_COUNT / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            parts[i] += parts[i + half];
        }
    }
    return parts[0];
}

static inline float yk_cpu_reduce_sum(const float *x, int64_t count)
{
    float parts[YK_CPU_REDUCE_PARTIAL_SUM_COUNT] = {0};
    const int64_t whole = count - count % YK_CPU_REDUCE_PARTIAL_SUM_COUNT;
    for (int64_t first = 0; first < whole; first += YK_CPU_REDUCE_PARTIAL_SUM_COUNT) {
        for (int i = 0; i < YK_CPU_REDUCE_PARTIAL_SUM_COUNT; i++) {
            parts[i] += x[first + i];
        }
    }
    for (int64_t i = whole; i < count; i++) {
        parts[i - whole] += x[i];
    }
    return yk_cpu_reduce_add_partial_sums(parts);
}

/* Returns Σ (x − centre)². */
static inline float yk_cpu_reduce_sum_squared_deviations(const float *x, int64_t count,
                                                         float centre)
{
    float parts[YK_CPU_REDUCE_PARTIAL_SUM_COUNT] = {0};
    const int64_t whole = count - count % YK_CPU_REDUCE_PARTIAL_SUM_COUNT;
    for (int64_t first = 0; first < whole; first += YK_CPU_REDUCE_PARTIAL_SUM_COUNT) {
        for (int i = 0; i < YK_CPU_REDUCE_PARTIAL_SUM_COUNT; i++) {
            const float away = x[first + i] - centre;
            parts[i] += away * away;
        }
    }
    for (int64_t i = whole; i < count; i++) {
        parts[i - whole] += (x[i] - centre) * (x[i] - centre);
    }
    return yk_cpu_reduce_add_partial_sums(parts);
}

/* Maps the bits of a float to an integer: a larger float has a larger integer. The integer of a
 * positive NaN is larger than the integers of all numbers. The function is its own inverse. */
static inline int32_t yk_cpu_reduce_sortable_bits(int32_t bits)
{
    return bits ^ (int32_t)((uint32_t)(bits >> 31) & 0x7fffffffU);
}

/* Returns the maximum, or −∞ for an empty array. The maximum is computed with integers, because
 * compilers do not vectorise the maximum of floats (which may be NaN). */
static inline float yk_cpu_reduce_max(const float *x, int64_t count)
{
    int32_t largest = yk_cpu_reduce_sortable_bits((int32_t)yk_cpu_float_to_bits(-INFINITY));
    for (int64_t i = 0; i < count; i++) {
        const int32_t place = yk_cpu_reduce_sortable_bits((int32_t)yk_cpu_float_to_bits(x[i]));
        largest = place > largest ? place : largest;
    }
    return yk_cpu_float_from_bits((uint32_t)yk_cpu_reduce_sortable_bits(largest));
}

/* Returns the maximum of the absolute values, or 0 for an empty array. */
static inline float yk_cpu_reduce_abs_max(const float *x, int64_t count)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint32_t size = yk_cpu_float_to_bits(x[i]) & 0x7fffffffU;
        largest = size > largest ? size : largest;
    }
    return yk_cpu_float_from_bits(largest);
}

#endif
