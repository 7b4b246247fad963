#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32.h"
#include "backend/cpu/parallel.h"
#include "backend/ops.h"

#include <math.h>

enum {
    PARTS = 256, /* the most sums that are kept until they are added up: 2 KiB */
    SIDE = 8,    /* partial sums side by side, for vectors */
};

struct squares {
    const struct yk_sum_squares_op *op;
    int64_t part_size; /* whole chunks */
    double *sums;      /* by part */
};

static double sum_chunk(const float *x, int64_t count)
{
    double sums[SIDE] = {0};
    const int64_t whole = count - count % SIDE;
    for (int64_t first = 0; first < whole; first += SIDE) {
        for (int i = 0; i < SIDE; i++) {
            sums[i] += (double)x[first + i] * (double)x[first + i];
        }
    }
    for (int64_t i = whole; i < count; i++) {
        sums[i - whole] += (double)x[i] * (double)x[i];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void sum_part(const void *work, int64_t part)
{
    const struct squares *squares = work;
    const struct yk_sum_squares_op *op = squares->op;
    const int64_t end = yk_cpu_min(op->count, (part + 1) * squares->part_size);
    float scratch[YK_CPU_FP32_BUFFER];
    double sum = 0;
    for (int64_t first = part * squares->part_size; first < end; first += YK_CPU_FP32_BUFFER) {
        const int64_t count = yk_cpu_min(YK_CPU_FP32_BUFFER, end - first);
        sum += sum_chunk(yk_cpu_fp32_view(op->type, op->from, first, count, scratch), count);
    }
    squares->sums[part] = sum;
}

void yk_cpu_sum_squares(int threads, const void *op)
{
    const struct yk_sum_squares_op *sum_squares = op;
    const int64_t even = yk_cpu_chunk_count(sum_squares->count, PARTS);
    double sums[PARTS];
    const struct squares squares = {
        .op = sum_squares,
        .part_size = yk_cpu_chunk_count(even > YK_CPU_CHUNK_SIZE ? even : YK_CPU_CHUNK_SIZE,
                                        YK_CPU_FP32_BUFFER) *
                     YK_CPU_FP32_BUFFER,
        .sums = sums,
    };
    const int64_t parts = yk_cpu_chunk_count(sum_squares->count, squares.part_size);
    yk_cpu_parallel_for(threads, parts, sum_part, &squares);
    double total = 0;
    for (int64_t part = 0; part < parts; part++) {
        total += sums[part];
    }
    *sum_squares->to = total;
}

void yk_cpu_optimizer_clip_norm(int threads, const void *op)
{
    (void)threads;
    const struct yk_clip_norm_op *clip = op;
    double total = 0;
    for (int64_t i = 0; i < clip->count; i++) {
        total += clip->sums[i];
    }
    const double norm = (double)clip->unscale * sqrt(total);
    const double fit = (double)clip->clip / (norm + 1e-6);
    const double clipped = clip->clip > 0.0F && fit < 1.0 ? fit : 1.0;
    *clip->gradient_norm = (struct yk_gradient_norm){
        .norm = norm,
        .factor = (float)((double)clip->unscale * clipped),
        .skip = isfinite(norm) ? 0 : 1,
    };
}
