#include "backend/cpu/kernels.h"

#include "backend/cpu/chunk.h"
#include "backend/cpu/share.h"
#include "backend/ops.h"

#include <math.h>

enum {
    PARTS = 256, /* the most sums that are kept until they are added up: 2 KiB */
    SIDE = 8,    /* partial sums side by side, for vectors */
};

struct squares {
    const struct yk_sum_squares *op;
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
    const struct yk_sum_squares *op = squares->op;
    const int64_t end = yk_cpu_least(op->count, (part + 1) * squares->part_size);
    float scratch[YK_CPU_CHUNK];
    double sum = 0;
    for (int64_t first = part * squares->part_size; first < end; first += YK_CPU_CHUNK) {
        const int64_t count = yk_cpu_least(YK_CPU_CHUNK, end - first);
        sum += sum_chunk(yk_cpu_view(op->type, op->from, first, count, scratch), count);
    }
    squares->sums[part] = sum;
}

void yk_cpu_sum_squares(int threads, const void *op)
{
    const struct yk_sum_squares *sum_squares = op;
    const int64_t even = yk_cpu_pieces(sum_squares->count, PARTS);
    double sums[PARTS];
    const struct squares squares = {
        .op = sum_squares,
        .part_size =
            yk_cpu_pieces(even > YK_CPU_PIECE ? even : YK_CPU_PIECE, YK_CPU_CHUNK) * YK_CPU_CHUNK,
        .sums = sums,
    };
    const int64_t parts = yk_cpu_pieces(sum_squares->count, squares.part_size);
    yk_cpu_share(threads, parts, sum_part, &squares);
    double total = 0;
    for (int64_t part = 0; part < parts; part++) {
        total += sums[part];
    }
    *sum_squares->to = total;
}

void yk_cpu_judge(int threads, const void *op)
{
    (void)threads;
    const struct yk_judge *judge = op;
    double total = 0;
    for (int64_t i = 0; i < judge->count; i++) {
        total += judge->sums[i];
    }
    const double norm = (double)judge->unscale * sqrt(total);
    const double fit = (double)judge->clip / (norm + 1e-6);
    const double clipped = judge->clip > 0.0F && fit < 1.0 ? fit : 1.0;
    *judge->verdict = (struct yk_verdict){
        .norm = norm,
        .factor = (float)((double)judge->unscale * clipped),
        .skip = isfinite(norm) ? 0 : 1,
    };
}
