#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

#include <string.h>

/* ---- squares ---- */

enum {
    SQUARE_PARTS = 256, /* the most sums that are kept until they are added up: 2 KiB */
    SIDE = 8,           /* partial sums side by side, for vectors */
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
    const int64_t end = yk_number_min(op->count, (part + 1) * squares->part_size);
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    double sum = 0;
    for (int64_t first = part * squares->part_size; first < end; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, end - first);
        sum += sum_chunk(yk_cpu_fp32_buffer_for_reading(op->type, op->from, first, count, scratch),
                         count);
    }
    squares->sums[part] = sum;
}

void yk_cpu_sum_squares(int threads, const void *op)
{
    const struct yk_sum_squares_op *sum_squares = op;
    const int64_t even = yk_number_ceil_div(sum_squares->count, SQUARE_PARTS);
    double sums[SQUARE_PARTS];
    const struct squares squares = {
        .op = sum_squares,
        .part_size = yk_number_ceil_div(even > YK_CPU_CHUNK_SIZE ? even : YK_CPU_CHUNK_SIZE,
                                        YK_CPU_FP32_BUFFER_SIZE) *
                     YK_CPU_FP32_BUFFER_SIZE,
        .sums = sums,
    };
    const int64_t parts = yk_number_ceil_div(sum_squares->count, squares.part_size);
    yk_cpu_parallel_for(threads, parts, sum_part, &squares);
    double total = 0;
    for (int64_t part = 0; part < parts; part++) {
        total += sums[part];
    }
    *sum_squares->to = total;
}

/* ---- rows ---- */

/* The rows are divided into at most GROUPS groups. Each group has its own sums, which are then
 * added in order. */
enum {
    GROUPS = 16,
    PANEL = 2048, /* columns summed at a time; GROUPS · PANEL floats are 128 KiB */
    TOGETHER = 4, /* rows added to the sums at a time */
};

struct panel {
    const struct yk_sum_rows_op *op;
    int64_t group_rows;
    int64_t first; /* column */
    int64_t columns;
    float (*sums)[PANEL]; /* by group */
};

static void add_four(const float *a, const float *b, const float *c, const float *d, int64_t count,
                     float *sums)
{
    for (int64_t i = 0; i < count; i++) {
        sums[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
}

static void sum_group(const void *work, int64_t group)
{
    const struct panel *panel = work;
    const struct yk_sum_rows_op *op = panel->op;
    const int64_t columns = panel->columns;
    const int64_t end = yk_number_min(op->rows, (group + 1) * panel->group_rows);
    float scratch[TOGETHER][PANEL];
    const float *rows[TOGETHER];
    float *sums = panel->sums[group];
    memset(sums, 0, (size_t)columns * sizeof *sums);
    int64_t row = group * panel->group_rows;
    for (; row + TOGETHER <= end; row += TOGETHER) {
        for (int i = 0; i < TOGETHER; i++) {
            rows[i] = yk_cpu_fp32_buffer_for_reading(op->from_type, op->from,
                                                     (row + i) * op->stride + panel->first, columns,
                                                     scratch[i]);
        }
        add_four(rows[0], rows[1], rows[2], rows[3], columns, sums);
    }
    for (; row < end; row++) {
        const float *last = yk_cpu_fp32_buffer_for_reading(
            op->from_type, op->from, row * op->stride + panel->first, columns, scratch[0]);
        for (int64_t i = 0; i < columns; i++) {
            sums[i] += last[i];
        }
    }
}

static void add_groups(const struct panel *panel, int64_t groups)
{
    const struct yk_sum_rows_op *op = panel->op;
    const int64_t columns = panel->columns;
    float *total = panel->sums[0];
    for (int64_t group = 1; group < groups; group++) {
        for (int64_t i = 0; i < columns; i++) {
            total[i] += panel->sums[group][i];
        }
    }
    yk_cpu_fp32_add_scaled(op->to_type, 1.0F, total, columns, op->to, panel->first);
}

void yk_cpu_sum_rows(int threads, const void *op)
{
    const struct yk_sum_rows_op *sum = op;
    const int64_t even_rows = yk_number_ceil_div(sum->rows, GROUPS);
    const int64_t min_rows = yk_cpu_rows_per_chunk(yk_number_min(sum->columns, PANEL));
    float sums[GROUPS][PANEL];
    struct panel panel = {
        .op = sum,
        .group_rows = even_rows < min_rows ? min_rows : even_rows,
        .sums = sums,
    };
    const int64_t groups = yk_number_ceil_div(sum->rows, panel.group_rows);
    for (; groups > 0 && panel.first < sum->columns; panel.first += PANEL) {
        panel.columns = yk_number_min(PANEL, sum->columns - panel.first);
        yk_cpu_parallel_for(threads, groups, sum_group, &panel);
        add_groups(&panel, groups);
    }
}
