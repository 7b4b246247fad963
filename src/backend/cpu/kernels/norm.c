#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/math/reduce.h"
#include "backend/cpu/parallel.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- forward ---- */

static float row_mean(const struct yk_norm_op *op, struct yk_cpu_fp32_row_reader *x)
{
    double sum = 0;
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        sum += (double)yk_cpu_reduce_sum(yk_cpu_fp32_row_reader_read_chunk(x, first, count), count);
    }
    return (float)(sum / (double)op->width);
}

static float row_rstd(const struct yk_norm_op *op, struct yk_cpu_fp32_row_reader *x, float mean)
{
    double sum = 0;
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        sum += (double)yk_cpu_reduce_sum_squared_deviations(
            yk_cpu_fp32_row_reader_read_chunk(x, first, count), count, mean);
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
    const int64_t chunk_rows = yk_cpu_rows_per_chunk(op->width);
    const int64_t end = yk_number_min(op->rows, (chunk + 1) * chunk_rows);
    struct yk_cpu_fp32_row_reader x;
    struct yk_cpu_fp32_row_reader weight;
    struct yk_cpu_fp32_row_reader bias;
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    yk_cpu_fp32_row_reader_init(&weight, op->weight_type, op->weight, 0);
    yk_cpu_fp32_row_reader_init(&bias, op->weight_type, op->bias, 0);
    for (int64_t row = chunk * chunk_rows; row < end; row++) {
        const int64_t start = row * op->width;
        yk_cpu_fp32_row_reader_init(&x, op->x_type, op->x, start);
        const float mean = op->bias ? row_mean(op, &x) : 0.0F;
        const float rstd = row_rstd(op, &x, mean);
        if (op->bias) {
            op->mean[row] = mean;
        }
        op->rstd[row] = rstd;
        for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
            const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
            float *y = yk_cpu_fp32_buffer_for_writing(op->y_type, op->y, start + first, scratch);
            scale_chunk(yk_cpu_fp32_row_reader_read_chunk(&x, first, count), mean, rstd,
                        yk_cpu_fp32_row_reader_read_chunk(&weight, first, count),
                        op->bias ? yk_cpu_fp32_row_reader_read_chunk(&bias, first, count) : NULL,
                        count, y);
            yk_cpu_fp32_buffer_store_back(op->y_type, y, count, op->y, start + first);
        }
    }
}

void yk_cpu_norm(int threads, const void *op)
{
    const struct yk_norm_op *norm = op;
    const int64_t chunks = yk_number_ceil_div(norm->rows, yk_cpu_rows_per_chunk(norm->width));
    yk_cpu_parallel_for(threads, chunks, norm_rows, op);
}

/* ---- backward ---- */

/*
 * With n = (x − mean) · rstd and g = dy · weight:
 *   dx       = add + rstd · (g − mean(g) − n · mean(g · n)), RMS without mean(g),
 *   d_weight = the sum over rows of dy · n, d_bias that of dy
 * (Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019).
 *
 * The rows are divided into at most GROUPS groups. Each group has its own sums for d_weight and
 * d_bias, which are then added in order. If a row has at most PANEL columns, it is read only once.
 */
enum {
    GROUPS = 16,
    PANEL = 1024, /* columns summed at a time; GROUPS · 2 · PANEL floats are 128 KiB */
};

struct backward {
    const struct yk_norm_backward_op *op;
    int64_t group_rows;
    int64_t first; /* first column of the panel */
    int64_t columns;
    bool passes;             /* also write dx */
    float (*sums)[2][PANEL]; /* by group: of d_weight and d_bias; NULL means: none */
};

struct backward_row {
    float mean;
    float rstd;
    struct yk_cpu_fp32_row_reader x;
    struct yk_cpu_fp32_row_reader dy;
    struct yk_cpu_fp32_row_reader add;
    struct yk_cpu_fp32_row_reader weight;
};

static void sum_backward_row(const struct backward *backward, struct backward_row *backward_row,
                             float *weight_sums, float *bias_sums)
{
    const float *x =
        yk_cpu_fp32_row_reader_read_chunk(&backward_row->x, backward->first, backward->columns);
    const float *dy =
        yk_cpu_fp32_row_reader_read_chunk(&backward_row->dy, backward->first, backward->columns);
    const float mean = backward_row->mean;
    const float rstd = backward_row->rstd;
    for (int64_t i = 0; i < backward->columns; i++) {
        weight_sums[i] += dy[i] * ((x[i] - mean) * rstd);
        bias_sums[i] += dy[i];
    }
}

/* Adds a chunk's sum of g to `sum` and that of g · (x − mean) to `product`. */
static void sum_chunk(const float *x, const float *dy, const float *weight, float mean,
                      int64_t count, double *sum, double *product)
{
    float sums[YK_CPU_REDUCE_PARTIAL_SUM_COUNT] = {0};
    float products[YK_CPU_REDUCE_PARTIAL_SUM_COUNT] = {0};
    const int64_t whole = count - count % YK_CPU_REDUCE_PARTIAL_SUM_COUNT;
    for (int64_t first = 0; first < whole; first += YK_CPU_REDUCE_PARTIAL_SUM_COUNT) {
        for (int i = 0; i < YK_CPU_REDUCE_PARTIAL_SUM_COUNT; i++) {
            const float g = dy[first + i] * weight[first + i];
            sums[i] += g;
            products[i] += g * (x[first + i] - mean);
        }
    }
    for (int64_t i = whole; i < count; i++) {
        const float g = dy[i] * weight[i];
        sums[i - whole] += g;
        products[i - whole] += g * (x[i] - mean);
    }
    *sum += (double)yk_cpu_reduce_add_partial_sums(sums);
    *product += (double)yk_cpu_reduce_add_partial_sums(products);
}

static void pass_chunk(const struct backward_row *backward_row, const float *x, const float *dy,
                       const float *weight, const float *add, float g_mean, float gn_mean,
                       int64_t count, float *dx)
{
    const float mean = backward_row->mean;
    const float rstd = backward_row->rstd;
    if (add) {
        for (int64_t i = 0; i < count; i++) {
            const float n = (x[i] - mean) * rstd;
            dx[i] = add[i] + rstd * (dy[i] * weight[i] - g_mean - n * gn_mean);
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            const float n = (x[i] - mean) * rstd;
            dx[i] = rstd * (dy[i] * weight[i] - g_mean - n * gn_mean);
        }
    }
}

static void pass_row(const struct yk_norm_backward_op *op, struct backward_row *backward_row,
                     int64_t start)
{
    double sum = 0;
    double product = 0;
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        sum_chunk(yk_cpu_fp32_row_reader_read_chunk(&backward_row->x, first, count),
                  yk_cpu_fp32_row_reader_read_chunk(&backward_row->dy, first, count),
                  yk_cpu_fp32_row_reader_read_chunk(&backward_row->weight, first, count),
                  backward_row->mean, count, &sum, &product);
    }
    const float g_mean = op->mean ? (float)(sum / (double)op->width) : 0.0F;
    const float gn_mean = (float)(product / (double)op->width) * backward_row->rstd;
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        float *dx = yk_cpu_fp32_buffer_for_writing(op->x_type, op->dx, start + first, scratch);
        pass_chunk(backward_row, yk_cpu_fp32_row_reader_read_chunk(&backward_row->x, first, count),
                   yk_cpu_fp32_row_reader_read_chunk(&backward_row->dy, first, count),
                   yk_cpu_fp32_row_reader_read_chunk(&backward_row->weight, first, count),
                   op->add ? yk_cpu_fp32_row_reader_read_chunk(&backward_row->add, first, count)
                           : NULL,
                   g_mean, gn_mean, count, dx);
        yk_cpu_fp32_buffer_store_back(op->x_type, dx, count, op->dx, start + first);
    }
}

static void backward_group(const void *work, int64_t group)
{
    const struct backward *backward = work;
    const struct yk_norm_backward_op *op = backward->op;
    const int64_t end = yk_number_min(op->rows, (group + 1) * backward->group_rows);
    struct backward_row backward_row;
    yk_cpu_fp32_row_reader_init(&backward_row.weight, op->weight_type, op->weight, 0);
    if (backward->sums) {
        memset(backward->sums[group], 0, sizeof backward->sums[group]);
    }
    for (int64_t r = group * backward->group_rows; r < end; r++) {
        const int64_t start = r * op->width;
        backward_row.mean = op->mean ? op->mean[r] : 0.0F;
        backward_row.rstd = op->rstd[r];
        yk_cpu_fp32_row_reader_init(&backward_row.x, op->x_type, op->x, start);
        yk_cpu_fp32_row_reader_init(&backward_row.dy, op->y_type, op->dy, start);
        yk_cpu_fp32_row_reader_init(&backward_row.add, op->x_type, op->add, start);
        /* Sums come first, because dx may be dy itself. */
        if (backward->sums) {
            sum_backward_row(backward, &backward_row, backward->sums[group][0],
                             backward->sums[group][1]);
        }
        if (backward->passes) {
            pass_row(op, &backward_row, start);
        }
    }
}

/* Adds the groups' sums to columns of d_weight (which = 0) or d_bias (1). */
static void add_sums(struct backward *backward, int64_t groups, int which, void *to)
{
    if (!to) {
        return;
    }
    float *total = backward->sums[0][which];
    for (int64_t group = 1; group < groups; group++) {
        const float *more = backward->sums[group][which];
        for (int64_t i = 0; i < backward->columns; i++) {
            total[i] += more[i];
        }
    }
    yk_cpu_fp32_add_scaled(backward->op->weight_type, 1.0F, total, backward->columns, to,
                           backward->first);
}

void yk_cpu_norm_backward(int threads, const void *op)
{
    const struct yk_norm_backward_op *norm = op;
    const int64_t even_rows = yk_number_ceil_div(norm->rows, GROUPS);
    const int64_t min_rows = yk_cpu_rows_per_chunk(norm->width);
    struct backward backward = {.op = norm};
    if (!norm->d_weight && !norm->d_bias) {
        backward.group_rows = min_rows;
        backward.passes = true;
        yk_cpu_parallel_for(threads, yk_number_ceil_div(norm->rows, backward.group_rows),
                            backward_group, &backward);
        return;
    }
    float sums[GROUPS][2][PANEL];
    backward.group_rows = even_rows < min_rows ? min_rows : even_rows;
    const int64_t groups = yk_number_ceil_div(norm->rows, backward.group_rows);
    const bool one_panel = norm->width <= PANEL;
    backward.sums = sums;
    backward.passes = one_panel;
    for (backward.first = 0; groups > 0 && backward.first < norm->width; backward.first += PANEL) {
        backward.columns = yk_number_min(PANEL, norm->width - backward.first);
        yk_cpu_parallel_for(threads, groups, backward_group, &backward);
        add_sums(&backward, groups, 0, norm->d_weight);
        add_sums(&backward, groups, 1, norm->d_bias);
    }
    if (!one_panel) {
        backward.sums = NULL;
        backward.passes = true;
        yk_cpu_parallel_for(threads, groups, backward_group, &backward);
    }
}
