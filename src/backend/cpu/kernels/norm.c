#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32.h"
#include "backend/cpu/math/reduce.h"
#include "backend/cpu/parallel.h"
#include "backend/ops.h"

#include <math.h>

/* The mean of a row, and of its squared distances from it, in two passes while it is in cache. */
static float row_mean(const struct yk_norm_op *op, struct yk_cpu_fp32_reader *x)
{
    double sum = 0;
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER) {
        const int64_t count = yk_cpu_min(YK_CPU_FP32_BUFFER, op->width - first);
        sum += (double)yk_cpu_reduce_sum(yk_cpu_fp32_reader_read(x, first, count), count);
    }
    return (float)(sum / (double)op->width);
}

static float row_rstd(const struct yk_norm_op *op, struct yk_cpu_fp32_reader *x, float mean)
{
    double sum = 0;
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER) {
        const int64_t count = yk_cpu_min(YK_CPU_FP32_BUFFER, op->width - first);
        sum += (double)yk_cpu_reduce_squared_deviation(yk_cpu_fp32_reader_read(x, first, count),
                                                       count, mean);
    }
    return (float)(1.0 / sqrt(sum / (double)op->width + (double)op->epsilon));
}

static void scale_chunk(const float *x, float mean, float rstd, const float *weight,
                        const float *bias, int64_t count, float *y)
{
    if (bias) {
        for (int64_t i = 0; i < count; i++) {
            y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            y[i] = x[i] * rstd * weight[i];
        }
    }
}

static void norm_rows(const void *work, int64_t chunk)
{
    const struct yk_norm_op *op = work;
    const int64_t chunk_rows = yk_cpu_chunk_rows(op->width);
    const int64_t end = yk_cpu_min(op->rows, (chunk + 1) * chunk_rows);
    struct yk_cpu_fp32_reader x;
    struct yk_cpu_fp32_reader weight;
    struct yk_cpu_fp32_reader bias;
    float scratch[YK_CPU_FP32_BUFFER];
    yk_cpu_fp32_reader_set(&weight, op->weight_type, op->weight, 0);
    yk_cpu_fp32_reader_set(&bias, op->weight_type, op->bias, 0);
    for (int64_t row = chunk * chunk_rows; row < end; row++) {
        const int64_t start = row * op->width;
        yk_cpu_fp32_reader_set(&x, op->x_type, op->x, start);
        const float mean = op->bias ? row_mean(op, &x) : 0.0F;
        const float rstd = row_rstd(op, &x, mean);
        if (op->bias) {
            op->mean[row] = mean;
        }
        op->rstd[row] = rstd;
        for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER) {
            const int64_t count = yk_cpu_min(YK_CPU_FP32_BUFFER, op->width - first);
            float *y = yk_cpu_fp32_output(op->y_type, op->y, start + first, scratch);
            scale_chunk(yk_cpu_fp32_reader_read(&x, first, count), mean, rstd,
                        yk_cpu_fp32_reader_read(&weight, first, count),
                        op->bias ? yk_cpu_fp32_reader_read(&bias, first, count) : NULL, count, y);
            yk_cpu_fp32_store(op->y_type, y, count, op->y, start + first);
        }
    }
}

void yk_cpu_norm(int threads, const void *op)
{
    const struct yk_norm_op *norm = op;
    const int64_t chunks = yk_cpu_chunk_count(norm->rows, yk_cpu_chunk_rows(norm->width));
    yk_cpu_parallel_for(threads, chunks, norm_rows, op);
}
