#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/math/reduce.h"
#include "backend/cpu/parallel.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Where the group of a row begins in an array. Groups of all rows are numbered consecutively. */
static int64_t group_start(int64_t groups, int64_t width, int64_t stride, int64_t number)
{
    if (groups <= 1) {
        return number * (stride > 0 ? stride : width);
    }
    return number / groups * (stride > 0 ? stride : groups * width) + number % groups * width;
}

static int64_t count_groups(int64_t rows, int64_t groups)
{
    return groups > 1 ? rows * groups : rows;
}

/* Reads weight + weight_offset. */
struct weight_reader {
    struct yk_cpu_fp32_row_reader stored;
    float offset;
    int64_t held; /* the chunk in `sums` starts at this element; −1 means: no chunk */
    float sums[YK_CPU_FP32_BUFFER_SIZE];
};

static void init_weight_reader(struct weight_reader *reader, enum yk_precision type,
                               const void *weight, float offset)
{
    yk_cpu_fp32_row_reader_init(&reader->stored, type, weight, 0);
    reader->offset = offset;
    reader->held = -1;
}

static const float *read_weight_chunk(struct weight_reader *reader, int64_t first, int64_t count)
{
    if (reader->offset == 0.0F) {
        return yk_cpu_fp32_row_reader_read_chunk(&reader->stored, first, count);
    }
    if (reader->held != first) {
        const float *stored = yk_cpu_fp32_row_reader_read_chunk(&reader->stored, first, count);
        for (int64_t i = 0; i < count; i++) {
            reader->sums[i] = stored[i] + reader->offset;
        }
        reader->held = first;
    }
    return reader->sums;
}

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

/* Like scale_chunk(), and adds `add`, which may be y itself. */
static void scale_and_add_chunk(const float *x, float mean, float rstd, const float *weight,
                                const float *bias, const float *add, int64_t count, float *y)
{
    if (bias) {
        for (int64_t i = 0; i < count; i++) {
            y[i] = (x[i] - mean) * rstd * weight[i] + bias[i] + add[i];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            y[i] = x[i] * rstd * weight[i] + add[i];
        }
    }
}

struct forward_readers {
    struct yk_cpu_fp32_row_reader x;
    struct yk_cpu_fp32_row_reader bias;
    struct weight_reader weight;
};

static void write_group(const struct yk_norm_op *op, struct forward_readers *from, float mean,
                        float rstd, int64_t start)
{
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    float add_scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        const int64_t at = start + first;
        const float *x = yk_cpu_fp32_row_reader_read_chunk(&from->x, first, count);
        const float *weight = read_weight_chunk(&from->weight, first, count);
        const float *bias =
            op->bias ? yk_cpu_fp32_row_reader_read_chunk(&from->bias, first, count) : NULL;
        float *y = yk_cpu_fp32_buffer_for_writing(op->y_type, op->y, at, scratch);
        if (op->add) {
            const float *add =
                yk_cpu_fp32_buffer_for_reading(op->y_type, op->add, at, count, add_scratch);
            scale_and_add_chunk(x, mean, rstd, weight, bias, add, count, y);
        } else {
            scale_chunk(x, mean, rstd, weight, bias, count, y);
        }
        yk_cpu_fp32_buffer_store_back(op->y_type, y, count, op->y, at);
    }
}

static void norm_groups(const void *work, int64_t chunk)
{
    const struct yk_norm_op *op = work;
    const int64_t chunk_groups = yk_cpu_rows_per_chunk(op->width);
    const int64_t end =
        yk_number_min(count_groups(op->rows, op->groups), (chunk + 1) * chunk_groups);
    struct forward_readers from;
    init_weight_reader(&from.weight, op->weight_type, op->weight, op->weight_offset);
    yk_cpu_fp32_row_reader_init(&from.bias, op->weight_type, op->bias, 0);
    for (int64_t group = chunk * chunk_groups; group < end; group++) {
        yk_cpu_fp32_row_reader_init(&from.x, op->x_type, op->x,
                                    group_start(op->groups, op->width, op->x_stride, group));
        const float mean = op->bias ? row_mean(op, &from.x) : 0.0F;
        const float rstd = row_rstd(op, &from.x, mean);
        if (op->bias) {
            op->mean[group] = mean;
        }
        op->rstd[group] = rstd;
        write_group(op, &from, mean, rstd, group_start(op->groups, op->width, op->y_stride, group));
    }
}

void yk_cpu_norm(int threads, const void *op)
{
    const struct yk_norm_op *norm = op;
    const int64_t chunks = yk_number_ceil_div(count_groups(norm->rows, norm->groups),
                                              yk_cpu_rows_per_chunk(norm->width));
    yk_cpu_parallel_for(threads, chunks, norm_groups, op);
}

/* ---- backward ---- */

/*
 * With n = (x − mean) · rstd and g = dy · (weight + weight_offset):
 *   dx       = add + rstd · (g − mean(g) − n · mean(g · n)), RMS without mean(g),
 *   d_weight = the sum over rows and groups of dy · n, d_bias that of dy
 * (Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019).
 *
 * The groups of all rows are divided into at most PARTS parts. Each part has its own sums for
 * d_weight and d_bias, which are then added in order. If a group has at most PANEL columns, it is
 * read only once.
 */
enum {
    PARTS = 16,
    PANEL = 1024, /* columns summed at a time; PARTS · 2 · PANEL floats are 128 KiB */
};

struct backward {
    const struct yk_norm_backward_op *op;
    int64_t part_groups; /* groups per part */
    int64_t first;       /* first column of the panel */
    int64_t columns;
    bool passes;             /* also write dx */
    float (*sums)[2][PANEL]; /* by part: of d_weight and d_bias; NULL means: none */
};

/* One group of one row. */
struct backward_row {
    float mean;
    float rstd;
    struct yk_cpu_fp32_row_reader x;
    struct yk_cpu_fp32_row_reader dy;
    struct yk_cpu_fp32_row_reader add;
    struct weight_reader weight;
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
                  read_weight_chunk(&backward_row->weight, first, count), backward_row->mean, count,
                  &sum, &product);
    }
    const float g_mean = op->mean ? (float)(sum / (double)op->width) : 0.0F;
    const float gn_mean = (float)(product / (double)op->width) * backward_row->rstd;
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        float *dx = yk_cpu_fp32_buffer_for_writing(op->x_type, op->dx, start + first, scratch);
        pass_chunk(backward_row, yk_cpu_fp32_row_reader_read_chunk(&backward_row->x, first, count),
                   yk_cpu_fp32_row_reader_read_chunk(&backward_row->dy, first, count),
                   read_weight_chunk(&backward_row->weight, first, count),
                   op->add ? yk_cpu_fp32_row_reader_read_chunk(&backward_row->add, first, count)
                           : NULL,
                   g_mean, gn_mean, count, dx);
        yk_cpu_fp32_buffer_store_back(op->x_type, dx, count, op->dx, start + first);
    }
}

static void backward_part(const void *work, int64_t part)
{
    const struct backward *backward = work;
    const struct yk_norm_backward_op *op = backward->op;
    const int64_t end =
        yk_number_min(count_groups(op->rows, op->groups), (part + 1) * backward->part_groups);
    struct backward_row backward_row;
    init_weight_reader(&backward_row.weight, op->weight_type, op->weight, op->weight_offset);
    if (backward->sums) {
        memset(backward->sums[part], 0, sizeof backward->sums[part]);
    }
    for (int64_t g = part * backward->part_groups; g < end; g++) {
        const int64_t x_start = group_start(op->groups, op->width, op->x_stride, g);
        const int64_t dy_start = group_start(op->groups, op->width, op->dy_stride, g);
        const int64_t dx_start = group_start(op->groups, op->width, op->dx_stride, g);
        backward_row.mean = op->mean ? op->mean[g] : 0.0F;
        backward_row.rstd = op->rstd[g];
        yk_cpu_fp32_row_reader_init(&backward_row.x, op->x_type, op->x, x_start);
        yk_cpu_fp32_row_reader_init(&backward_row.dy, op->y_type, op->dy, dy_start);
        yk_cpu_fp32_row_reader_init(&backward_row.add, op->x_type, op->add, dx_start);
        /* Sums come first, because dx may be dy itself. */
        if (backward->sums) {
            sum_backward_row(backward, &backward_row, backward->sums[part][0],
                             backward->sums[part][1]);
        }
        if (backward->passes) {
            pass_row(op, &backward_row, dx_start);
        }
    }
}

/* Adds the parts' sums to columns of d_weight (which = 0) or d_bias (1). */
static void add_sums(struct backward *backward, int64_t parts, int which, void *to)
{
    if (!to) {
        return;
    }
    float *total = backward->sums[0][which];
    for (int64_t part = 1; part < parts; part++) {
        const float *more = backward->sums[part][which];
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
    const int64_t groups = count_groups(norm->rows, norm->groups);
    const int64_t even_part = yk_number_ceil_div(groups, PARTS);
    const int64_t min_part = yk_cpu_rows_per_chunk(norm->width);
    struct backward backward = {.op = norm};
    if (!norm->d_weight && !norm->d_bias) {
        backward.part_groups = min_part;
        backward.passes = true;
        yk_cpu_parallel_for(threads, yk_number_ceil_div(groups, backward.part_groups),
                            backward_part, &backward);
        return;
    }
    float sums[PARTS][2][PANEL];
    backward.part_groups = even_part < min_part ? min_part : even_part;
    const int64_t parts = yk_number_ceil_div(groups, backward.part_groups);
    const bool one_panel = norm->width <= PANEL;
    backward.sums = sums;
    backward.passes = one_panel;
    for (backward.first = 0; parts > 0 && backward.first < norm->width; backward.first += PANEL) {
        backward.columns = yk_number_min(PANEL, norm->width - backward.first);
        yk_cpu_parallel_for(threads, parts, backward_part, &backward);
        add_sums(&backward, parts, 0, norm->d_weight);
        add_sums(&backward, parts, 1, norm->d_bias);
    }
    if (!one_panel) {
        backward.sums = NULL;
        backward.passes = true;
        yk_cpu_parallel_for(threads, parts, backward_part, &backward);
    }
}

/* ---- QK-norm ---- */

void yk_cpu_qk_norm(int threads, const void *op)
{
    const struct yk_qk_norm_op *norms = op;
    yk_cpu_norm(threads, &norms->q);
    yk_cpu_norm(threads, &norms->k);
    if (norms->rotary.cos_sin) {
        yk_cpu_rotary(threads, &norms->rotary);
    }
}

void yk_cpu_qk_norm_backward(int threads, const void *op)
{
    const struct yk_qk_norm_backward_op *norms = op;
    if (norms->rotary.cos_sin) {
        yk_cpu_rotary(threads, &norms->rotary);
    }
    yk_cpu_norm_backward(threads, &norms->q);
    yk_cpu_norm_backward(threads, &norms->k);
}
