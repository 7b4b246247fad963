/*
 * Convert: conversion between fp32 and the stored types fp16 and bf16. Rounding is to nearest, ties
 * to even, as in hardware. tf32 is stored as fp32. Any thread may call these functions.
 */
#ifndef YK_BACKEND_CPU_MATH_CONVERT_H
#define YK_BACKEND_CPU_MATH_CONVERT_H

#include "base/precision.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t yk_cpu_float_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float yk_cpu_float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float yk_cpu_convert_bf16_value_to_fp32(uint16_t stored)
{
    return yk_cpu_float_from_bits((uint32_t)stored << 16);
}

static inline uint16_t yk_cpu_convert_fp32_value_to_bf16(float value)
{
    const uint32_t bits = yk_cpu_float_to_bits(value);
    const uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
    const uint32_t quiet = bits | 0x400000U; /* keeps NaN a NaN */
    return (uint16_t)((isnan(value) ? quiet : rounded) >> 16);
}

float yk_cpu_convert_fp16_value_to_fp32(uint16_t stored);
uint16_t yk_cpu_convert_fp32_value_to_fp16(float value);

/* Convert `count` elements from or to `type`. `first` is the index of the first element in the
 * array of this type. The array of fp32 begins at element 0. */
void yk_cpu_convert_array_to_fp32(enum yk_precision type, const void *from, int64_t first,
                                  int64_t count, float *out);
void yk_cpu_convert_array_from_fp32(enum yk_precision type, const float *from, int64_t count,
                                    void *to, int64_t first);

static inline float yk_cpu_convert_element_to_fp32(enum yk_precision type, const void *from,
                                                   int64_t at)
{
    const uint16_t *half = from;
    const float *full = from;
    switch (type) {
    case YK_PRECISION_FP16:
        return yk_cpu_convert_fp16_value_to_fp32(half[at]);
    case YK_PRECISION_BF16:
        return yk_cpu_convert_bf16_value_to_fp32(half[at]);
    default:
        return full[at];
    }
}

#endif
