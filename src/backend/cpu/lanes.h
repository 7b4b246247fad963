/*
 * Lanes: four fp32 numbers in one register, which every processor has that yoke runs on. For the
 * loops that decide how fast a model trains, where what compilers make of plain loops is not good
 * enough. The types are those of GCC and clang for all processors.
 */
#ifndef YK_BACKEND_CPU_LANES_H
#define YK_BACKEND_CPU_LANES_H

#include <stdint.h>

enum {
    YK_CPU_LANES = 4
};

/* They may lie anywhere in an array of floats. */
typedef float yk_cpu_lanes __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t yk_cpu_lane_bits __attribute__((vector_size(16), aligned(4), may_alias));

static inline yk_cpu_lanes yk_cpu_lanes_load(const float *from)
{
    return *(const yk_cpu_lanes *)from;
}

static inline void yk_cpu_lanes_store(float *to, yk_cpu_lanes value)
{
    *(yk_cpu_lanes *)to = value;
}

static inline yk_cpu_lanes yk_cpu_lanes_all(float value)
{
    return (yk_cpu_lanes){value, value, value, value};
}

/* Where `mask` is all ones the one, where it is all zeros the other. */
static inline yk_cpu_lanes yk_cpu_lanes_select(yk_cpu_lane_bits mask, yk_cpu_lanes one,
                                               yk_cpu_lanes other)
{
    return (yk_cpu_lanes)(((yk_cpu_lane_bits)one & mask) | ((yk_cpu_lane_bits)other & ~mask));
}

/* b where that is larger, else a, also if it is not a number. */
static inline yk_cpu_lanes yk_cpu_lanes_larger(yk_cpu_lanes a, yk_cpu_lanes b)
{
    return yk_cpu_lanes_select((yk_cpu_lane_bits)(b > a), b, a);
}

/* 2^x for x up to 126, with a relative error of 2e-7; 0 below −126. Not-a-number gives itself.
 * The polynomial is a minimax fit of (2^r − 1) / r on |r| ≤ 1/2. */
static inline yk_cpu_lanes yk_cpu_lanes_exp2(yk_cpu_lanes x)
{
    /* Adding 1.5 · 2^23 + 127 rounds to a whole number, and its low bits are the exponent's. */
    const yk_cpu_lanes shift = yk_cpu_lanes_all(0x1.8p23F + 127.0F);
    const yk_cpu_lanes shifted = x + shift;
    const yk_cpu_lanes rest = x - (shifted - shift);
    yk_cpu_lanes p = rest * 0x1.5bb97ep-10F + 0x1.3ceb1p-7F;
    p = p * rest + 0x1.c6b758p-5F;
    p = p * rest + 0x1.ebf9bap-3F;
    p = p * rest + 0x1.62e42ap-1F;
    const yk_cpu_lanes power = (yk_cpu_lanes)((yk_cpu_lane_bits)shifted << 23);
    p = p * rest * power + power;
    return (yk_cpu_lanes)((yk_cpu_lane_bits)p & ~(yk_cpu_lane_bits)(x < -126.0F));
}

#endif
