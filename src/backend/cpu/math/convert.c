#include "backend/cpu/math/convert.h"

float yk_cpu_convert_fp16_value_to_fp32(uint16_t stored)
{
    const uint32_t sign = (uint32_t)(stored & 0x8000U) << 16;
    const uint32_t rest = stored & 0x7fffU;
    if (rest >= 0x7c00U) { /* infinity, not-a-number */
        return yk_cpu_float_from_bits(sign | 0x7f800000U | (rest & 0x3ffU) << 13);
    }
    if (rest < 0x400U) { /* subnormal: a multiple of 2^-24 */
        return yk_cpu_float_from_bits(sign | yk_cpu_float_to_bits((float)rest * 0x1p-24F));
    }
    return yk_cpu_float_from_bits(sign | ((rest << 13) + ((127U - 15U) << 23)));
}

uint16_t yk_cpu_convert_fp32_value_to_fp16(float value)
{
    const uint32_t bits = yk_cpu_float_to_bits(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000U);
    const uint32_t rest = bits & 0x7fffffffU;
    if (rest > 0x7f800000U) {
        return (uint16_t)(sign | 0x7e00U);
    }
    if (rest >= 0x477ff000U) { /* rounds to more than 65504 */
        return (uint16_t)(sign | 0x7c00U);
    }
    if (rest < 0x38800000U) { /* below 2^-14: adding 0.5 rounds to a multiple of 2^-24 */
        const float rounded = yk_cpu_float_from_bits(rest) + 0.5F;
        return (uint16_t)(sign |
                          (uint16_t)(yk_cpu_float_to_bits(rounded) - yk_cpu_float_to_bits(0.5F)));
    }
    const uint32_t even = rest >> 13 & 1U;
    return (uint16_t)(sign | (uint16_t)((rest - ((127U - 15U) << 23) + 0xfffU + even) >> 13));
}

void yk_cpu_convert_array_to_fp32(enum yk_precision type, const void *from, int64_t first,
                                  int64_t count, float *out)
{
    const uint16_t *half = (const uint16_t *)from + first;
    switch (type) {
    case YK_PRECISION_FP16:
        for (int64_t i = 0; i < count; i++) {
            out[i] = yk_cpu_convert_fp16_value_to_fp32(half[i]);
        }
        break;
    case YK_PRECISION_BF16:
        for (int64_t i = 0; i < count; i++) {
            out[i] = yk_cpu_convert_bf16_value_to_fp32(half[i]);
        }
        break;
    default:
        memcpy(out, (const float *)from + first, (size_t)count * sizeof *out);
        break;
    }
}

void yk_cpu_convert_array_from_fp32(enum yk_precision type, const float *from, int64_t count,
                                    void *to, int64_t first)
{
    uint16_t *half = (uint16_t *)to + first;
    switch (type) {
    case YK_PRECISION_FP16:
        for (int64_t i = 0; i < count; i++) {
            half[i] = yk_cpu_convert_fp32_value_to_fp16(from[i]);
        }
        break;
    case YK_PRECISION_BF16:
        for (int64_t i = 0; i < count; i++) {
            half[i] = yk_cpu_convert_fp32_value_to_bf16(from[i]);
        }
        break;
    default:
        memcpy((float *)to + first, from, (size_t)count * sizeof *from);
        break;
    }
}
