#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

/* (x, y) becomes (x cos − y sin, y cos + x sin); `sign` −1 rotates backwards. */
static void rotate_pairs(const float *cos_sin, float sign, int64_t count, float *restrict x,
                         float *restrict y)
{
    for (int64_t i = 0; i < count; i++) {
        const float cosine = cos_sin[2 * i];
        const float sine = sign * cos_sin[2 * i + 1];
        const float was = x[i];
        x[i] = was * cosine - y[i] * sine;
        y[i] = y[i] * cosine + was * sine;
    }
}

/* Number of pairs of a head. */
static int64_t pair_count(const struct yk_rotary_op *op)
{
    return (op->rotary_size > 0 ? op->rotary_size : op->head_size) / 2;
}

static void rotate_head(const struct yk_rotary_op *op, int64_t start, const float *cos_sin)
{
    const int64_t half = pair_count(op);
    const float sign = op->inverse ? -1.0F : 1.0F;
    float x_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float y_scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < half; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, half - first);
        const int64_t at = start + first;
        float *x = yk_cpu_fp32_buffer_for_update(op->type, op->data, at, count, x_scratch);
        float *y = yk_cpu_fp32_buffer_for_update(op->type, op->data, at + half, count, y_scratch);
        rotate_pairs(cos_sin + 2 * first, sign, count, x, y);
        yk_cpu_fp32_buffer_store_back(op->type, x, count, op->data, at);
        yk_cpu_fp32_buffer_store_back(op->type, y, count, op->data, at + half);
    }
}

static void rotate_row(const void *work, int64_t row)
{
    const struct yk_rotary_op *op = work;
    const float *cos_sin = op->cos_sin + row % op->sequence * (pair_count(op) * 2);
    const int64_t head_stride = op->head_stride > 0 ? op->head_stride : op->head_size;
    for (int64_t head = 0; head < op->heads; head++) {
        rotate_head(op, row * op->stride + head * head_stride, cos_sin);
    }
}

void yk_cpu_rotary(int threads, const void *op)
{
    const struct yk_rotary_op *rotary = op;
    yk_cpu_parallel_for_rows(threads, rotary->rows, rotary->heads * rotary->head_size, rotate_row,
                             op);
}
