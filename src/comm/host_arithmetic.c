#include "comm/host_arithmetic.h"

#include "backend/cpu/math/convert.h"
#include "base/number.h"

#include <assert.h>

enum {
    CHUNK = 512 /* numbers that are fp32 at a time: they stay in the first cache */
};

void yk_host_arithmetic_convert_to_fp32(enum yk_comm_data_type type, int64_t count,
                                        const void *from, float *out)
{
    assert(type != YK_COMM_FP64);
    yk_cpu_convert_array_to_fp32(yk_comm_data_type_to_precision(type), from, 0, count, out);
}

void yk_host_arithmetic_convert_from_fp32(enum yk_comm_data_type type, int64_t count,
                                          const float *from, void *out)
{
    assert(type != YK_COMM_FP64);
    yk_cpu_convert_array_from_fp32(yk_comm_data_type_to_precision(type), from, count, out, 0);
}

static void add_singles(int64_t count, const float *restrict from, float *restrict to)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void add_doubles(int64_t count, const double *restrict from, double *restrict to)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void add_bf16(int64_t count, const uint16_t *restrict from, uint16_t *restrict to)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = yk_cpu_convert_fp32_value_to_bf16(yk_cpu_convert_bf16_value_to_fp32(to[i]) +
                                                  yk_cpu_convert_bf16_value_to_fp32(from[i]));
    }
}

static void add_fp16(int64_t count, const void *from, void *to)
{
    float sum[CHUNK];
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int64_t now = yk_number_min(count - at, CHUNK);
        void *place = yk_comm_data_type_element_pointer(YK_COMM_FP16, to, at);
        yk_host_arithmetic_convert_to_fp32(YK_COMM_FP16, now, place, sum);
        yk_host_arithmetic_add_to_fp32_sum(
            YK_COMM_FP16, now, yk_comm_data_type_element_pointer(YK_COMM_FP16, from, at), sum);
        yk_host_arithmetic_convert_from_fp32(YK_COMM_FP16, now, sum, place);
    }
}

void yk_host_arithmetic_add_arrays(enum yk_comm_data_type type, int64_t count, const void *from,
                                   void *to)
{
    if (type == YK_COMM_FP64) {
        add_doubles(count, from, to);
    } else if (type == YK_COMM_FP32) {
        add_singles(count, from, to);
    } else if (type == YK_COMM_BF16) {
        add_bf16(count, from, to);
    } else {
        add_fp16(count, from, to);
    }
}

void yk_host_arithmetic_add_to_fp32_sum(enum yk_comm_data_type type, int64_t count,
                                        const void *from, float *sum)
{
    float some[CHUNK];
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int64_t now = yk_number_min(count - at, CHUNK);
        yk_host_arithmetic_convert_to_fp32(type, now,
                                           yk_comm_data_type_element_pointer(type, from, at), some);
        add_singles(now, some, sum + at);
    }
}
