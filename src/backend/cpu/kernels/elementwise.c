#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

static void cast_chunk(const void *work, int64_t chunk)
{
    const struct yk_cast_op *op = work;
    const int64_t end = yk_number_min(op->count, (chunk + 1) * YK_CPU_CHUNK_SIZE);
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = chunk * YK_CPU_CHUNK_SIZE; first < end; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, end - first);
        if (yk_cpu_fp32_needs_conversion(op->to_type)) {
            const float *from =
                yk_cpu_fp32_buffer_for_reading(op->from_type, op->from, first, count, scratch);
            yk_cpu_convert_array_from_fp32(op->to_type, from, count, op->to, first);
        } else {
            yk_cpu_convert_array_to_fp32(op->from_type, op->from, first, count,
                                         (float *)op->to + first);
        }
    }
}

void yk_cpu_elementwise_cast(int threads, const void *op)
{
    const struct yk_cast_op *cast = op;
    yk_cpu_parallel_for(threads, yk_number_ceil_div(cast->count, YK_CPU_CHUNK_SIZE), cast_chunk,
                        op);
}

static void add_chunk(const void *work, int64_t chunk)
{
    const struct yk_add_op *op = work;
    const int64_t end = yk_number_min(op->count, (chunk + 1) * YK_CPU_CHUNK_SIZE);
    float from_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float to_scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = chunk * YK_CPU_CHUNK_SIZE; first < end; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, end - first);
        const float *from =
            yk_cpu_fp32_buffer_for_reading(op->type, op->from, first, count, from_scratch);
        float *to = yk_cpu_fp32_buffer_for_update(op->type, op->to, first, count, to_scratch);
        for (int64_t i = 0; i < count; i++) {
            to[i] += from[i];
        }
        yk_cpu_fp32_buffer_store_back(op->type, to, count, op->to, first);
    }
}

void yk_cpu_elementwise_add(int threads, const void *op)
{
    const struct yk_add_op *add = op;
    yk_cpu_parallel_for(threads, yk_number_ceil_div(add->count, YK_CPU_CHUNK_SIZE), add_chunk, op);
}
