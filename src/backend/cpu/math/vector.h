/*
 * Vector: four fp32 numbers in one register, for loops that compilers do not vectorise well enough
 * by themselves. The types are GCC's and clang's for all processors.
 */
#ifndef YK_BACKEND_CPU_MATH_VECTOR_H
#define YK_BACKEND_CPU_MATH_VECTOR_H

#include <stdint.h>

enum {
    YK_CPU_VECTOR_WIDTH = 4
};

/* They may lie anywhere in an array of floats. */
typedef float yk_cpu_vector __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t yk_cpu_vector_bits __attribute__((vector_size(16), aligned(4), may_alias));

static inline yk_cpu_vector yk_cpu_vector_load(const float *from)
{
    return *(const yk_cpu_vector *)from;
}

static inline void yk_cpu_vector_store(float *to, yk_cpu_vector value)
{
    *(yk_cpu_vector *)to = value;
}

static inline yk_cpu_vector yk_cpu_vector_broadcast(float value)
{
    return (yk_cpu_vector){value, value, value, value};
}

/* Where `mask` is all ones the one, where it is all zeros the other. */
static inline yk_cpu_vector yk_cpu_vector_select(yk_cpu_vector_bits mask, yk_cpu_vector one,
                                                 yk_cpu_vector other)
{
    return (yk_cpu_vector)(((yk_cpu_vector_bits)one & mask) | ((yk_cpu_vector_bits)other & ~mask));
}

/* b where that is larger, else a, also if it is not a number. */
static inline yk_cpu_vector yk_cpu_vector_max(yk_cpu_vector a, yk_cpu_vector b)
{
    return yk_cpu_vector_select((yk_cpu_vector_bits)(b > a), b, a);
}

/* 2^x for x up to 126, with a relative error of 2e-7; 0 below −126. Not-a-number gives itself.
 * The polynomial is a minimax fit of (2^r − 1) / r on |r| ≤ 1/2. */
static inline yk_cpu_vector yk_cpu_vector_exp2(yk_cpu_vector x)
{
    /* Adding 1.5 · 2^23 + 127 rounds to a whole number, and its low bits are the exponent's. */
    const yk_cpu_vector shift = yk_cpu_vector_broadcast(0x1.8p23F + 127.0F);
    const yk_cpu_vector shifted = x + shift;
    const yk_cpu_vector rest = x - (shifted - shift);
    yk_cpu_vector p = rest * 0x1.5bb97ep-10F + 0x1.3ceb1p-7F;
    p = p * rest + 0x1.c6b758p-5F;
    p = p * rest + 0x1.ebf9bap-3F;
    p = p * rest + 0x1.62e42ap-1F;
    const yk_cpu_vector power = (yk_cpu_vector)((yk_cpu_vector_bits)shifted << 23);
    p = p * rest * power + power;
    return (yk_cpu_vector)((yk_cpu_vector_bits)p & ~(yk_cpu_vector_bits)(x < -126.0F));
}

#endif
