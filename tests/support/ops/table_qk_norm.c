#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <stddef.h>
#include <string.h>

static const float epsilon = 1e-6F;

struct qk_case {
    int64_t rows;
    int64_t sequence;
    int64_t heads[2]; /* of queries and of keys */
    int64_t head_size;
    int64_t rotary_size; /* 0: all of a head; -1: nothing is rotated */
    int64_t gap;         /* by how much the stride of what is rotated is larger than its rows */
    bool whole;          /* one norm over all heads of a row */
    bool layer;          /* layer norms */
    bool frozen;
    float offset; /* of the weights */
};

/* Heads that fill the lanes of a GPU and others; heads that no run of four divides; one head of
 * keys; more rows than blocks. */
static const struct qk_case cases[] = {
    {.rows = 14, .sequence = 7, .heads = {4, 2}, .head_size = 128},
    {.rows = 34, .sequence = 17, .heads = {7, 1}, .head_size = 64, .frozen = true, .gap = 64},
    {.rows = 9, .sequence = 9, .heads = {4, 1}, .head_size = 256, .offset = 1},
    {.rows = 5, .sequence = 2, .heads = {3, 3}, .head_size = 512, .frozen = true},
    {.rows = 3, .sequence = 3, .heads = {2, 1}, .head_size = 1024},
    {.rows = 700, .sequence = 100, .heads = {32, 8}, .head_size = 128, .frozen = true},
    {.rows = 1100, .sequence = 550, .heads = {16, 4}, .head_size = 64},
    {.rows = 21, .sequence = 21, .heads = {5, 2}, .head_size = 128, .rotary_size = 64},
    {.rows = 14, .sequence = 7, .heads = {4, 4}, .head_size = 32, .gap = 3},
    {.rows = 14, .sequence = 7, .heads = {3, 2}, .head_size = 80, .offset = 1},
    {.rows = 14, .sequence = 7, .heads = {6, 2}, .head_size = 128, .rotary_size = -1},
    {.rows = 17, .sequence = 17, .heads = {8, 4}, .head_size = 64, .whole = true, .gap = 8},
    {.rows = 12, .sequence = 4, .heads = {6, 3}, .head_size = 128, .layer = true},
    {.rows = 12, .sequence = 4, .heads = {3, 1}, .head_size = 64, .layer = true, .frozen = true},
    {.rows = 12, .sequence = 5, .heads = {3, 1}, .head_size = 10},
    {.rows = 1, .sequence = 1, .heads = {1, 1}, .head_size = 128},
    {.rows = 0, .sequence = 4, .heads = {2, 1}, .head_size = 64},
};

static void begin(struct op_bench *bench, const char *op, const struct qk_case *one,
                  enum yk_precision type, enum yk_precision weight_type)
{
    op_bench_begin(bench,
                   "%s %s%s %lld rows of %lld, heads %lld + %lld x %lld, of each %lld rotated, gap "
                   "%lld offset %g %s weight %s%s",
                   op, one->layer ? "layer" : "rms", one->whole ? " whole" : "",
                   (long long)one->rows, (long long)one->sequence, (long long)one->heads[0],
                   (long long)one->heads[1], (long long)one->head_size, (long long)one->rotary_size,
                   (long long)one->gap, (double)one->offset, yk_precision_name(type),
                   yk_precision_name(weight_type), one->frozen ? " frozen" : "");
}

/* Of a row: of queries (0) or keys (1). */
static int64_t columns_of(const struct qk_case *one, int part)
{
    return one->heads[part] * one->head_size;
}

static int64_t groups_of(const struct qk_case *one, int part)
{
    return one->whole ? 1 : one->heads[part];
}

static int64_t width_of(const struct qk_case *one, int part)
{
    return one->whole ? columns_of(one, part) : one->head_size;
}

/* What the norm of queries or keys has to itself. */
struct part {
    struct op_array *weight;
    struct op_array *bias;
    struct op_array *d_weight;
    struct op_array *d_bias;
    struct op_array *mean;
    struct op_array *rstd;
};

struct arrays {
    struct op_array *x;       /* queries, keys and as many values */
    struct op_array *rotated; /* what comes out, or its gradient, in whose place that of x comes */
    struct op_array *cos_sin;
    struct part parts[2];
};

/* The columns of a part, without gaps. */
static const double *x_of(struct op_bench *bench, const struct qk_case *one,
                          const struct op_array *x, int part)
{
    return op_columns(bench, x, part * columns_of(one, 0), columns_of(one, part));
}

/* Stores the columns of a part in whole rows. */
static void store_part(const struct qk_case *one, int part, const double *from, double *rows)
{
    const int64_t all = columns_of(one, 0) + columns_of(one, 1);
    for (int64_t row = 0; row < one->rows; row++) {
        memcpy(rows + row * all + part * columns_of(one, 0), from + row * columns_of(one, part),
               (size_t)columns_of(one, part) * sizeof *from);
    }
}

static struct part place_part(struct op_bench *bench, const struct qk_case *one, int part,
                              enum yk_precision weight_type)
{
    const int64_t width = width_of(one, part);
    return (struct part){
        .weight = op_drawn(bench, weight_type, 1, width, width, 2),
        .bias = op_drawn(bench, weight_type, 1, width, width, 2),
        .d_weight = op_drawn(bench, weight_type, 1, width, width, 1),
        .d_bias = op_drawn(bench, weight_type, 1, width, width, 1),
    };
}

static struct yk_rotary_op rotary_op(const struct qk_case *one, const struct arrays *arrays,
                                     enum yk_precision type, bool back)
{
    return (struct yk_rotary_op){
        .rows = one->rows,
        .sequence = one->sequence,
        .heads = one->heads[0] + one->heads[1],
        .head_size = one->head_size,
        .rotary_size = one->rotary_size > 0 ? one->rotary_size : 0,
        .stride = arrays->rotated->stride,
        .data = arrays->rotated->device,
        .cos_sin = one->rotary_size < 0 ? NULL : arrays->cos_sin->device,
        .inverse = back,
        .type = type,
    };
}

/* The address of a part's columns. */
static void *device_of(const struct op_array *array, const struct qk_case *one, int part)
{
    return yk_precision_element_address(array->type, array->device, part * columns_of(one, 0));
}

static struct arrays place(struct op_bench *bench, const struct qk_case *one,
                           enum yk_precision type, enum yk_precision weight_type)
{
    const int64_t half = (one->rotary_size > 0 ? one->rotary_size : one->head_size) / 2;
    const int64_t all = columns_of(one, 0) + 2 * columns_of(one, 1);
    return (struct arrays){
        .x = op_drawn(bench, type, one->rows, all, all, 2),
        .cos_sin = op_table_angles(bench, one->sequence, half),
        .parts = {place_part(bench, one, 0, weight_type), place_part(bench, one, 1, weight_type)},
    };
}

/* ---- forward ---- */

static struct yk_norm_op norm_op(const struct qk_case *one, const struct arrays *arrays, int part)
{
    const struct part *own = &arrays->parts[part];
    return (struct yk_norm_op){
        .rows = one->rows,
        .groups = groups_of(one, part),
        .width = width_of(one, part),
        .x_stride = arrays->x->stride,
        .y_stride = arrays->rotated->stride,
        .x = device_of(arrays->x, one, part),
        .y = device_of(arrays->rotated, one, part),
        .weight = own->weight->device,
        .bias = one->layer ? own->bias->device : NULL,
        .mean = one->layer ? own->mean->device : NULL,
        .rstd = own->rstd->device,
        .epsilon = epsilon,
        .weight_offset = one->offset,
        .x_type = arrays->x->type,
        .y_type = arrays->rotated->type,
        .weight_type = own->weight->type,
    };
}

static void expect_forward(struct op_bench *bench, const struct qk_case *one,
                           const struct yk_qk_norm_op *op, const struct arrays *arrays)
{
    double *expected = op_room(bench, one->rows * arrays->rotated->columns);
    for (int part = 0; part < 2; part++) {
        const struct part *own = &arrays->parts[part];
        const int64_t count = one->rows * groups_of(one, part);
        const struct reference_norm numbers = {
            .x = x_of(bench, one, arrays->x, part),
            .weight = own->weight->values,
            .bias = one->layer ? own->bias->values : NULL,
            .y = op_room(bench, one->rows * columns_of(one, part)),
            .mean = op_room(bench, count),
            .rstd = op_room(bench, count),
        };
        reference_norm(part == 0 ? &op->q : &op->k, &numbers);
        store_part(one, part, numbers.y, expected);
        op_expect(bench, own->rstd, "rstd", numbers.rstd, 0);
        if (one->layer) {
            op_expect(bench, own->mean, "mean", numbers.mean, 0.1);
        }
    }
    if (op->rotary.cos_sin) {
        reference_rotary(&op->rotary, arrays->cos_sin->values, expected);
    }
    op_expect(bench, arrays->rotated, "y", expected, 0);
}

static void try_qk_norm(struct op_bench *bench, const struct qk_case *one, enum yk_precision type,
                        enum yk_precision weight_type)
{
    begin(bench, "qk_norm", one, type, weight_type);
    const int64_t all = columns_of(one, 0) + columns_of(one, 1);
    struct arrays arrays = place(bench, one, type, weight_type);
    arrays.rotated = op_poisoned(bench, type, one->rows, all, all + one->gap);
    for (int part = 0; part < 2; part++) {
        const int64_t count = one->rows * groups_of(one, part);
        arrays.parts[part].mean = op_poisoned(bench, FP32, 1, count, count);
        arrays.parts[part].rstd = op_poisoned(bench, FP32, 1, count, count);
    }
    const struct yk_qk_norm_op op = {.q = norm_op(one, &arrays, 0),
                                     .k = norm_op(one, &arrays, 1),
                                     .rotary = rotary_op(one, &arrays, type, false)};
    op_bench_upload(bench);
    bench->backend->qk_norm(bench->lane, &op);
    op_bench_run(bench);
    expect_forward(bench, one, &op, &arrays);
    op_bench_end(bench);
}

void op_table_qk_norm(struct op_bench *bench)
{
    for (int j = 0; j < OP_TYPES; j++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            try_qk_norm(bench, &cases[i], op_types[j], i % 2 == 0 ? op_types[j] : FP32);
        }
    }
}

/* ---- backward ---- */

/* mean and rstd are what the forward op leaves: those of x, in fp32. */
static void place_statistics(struct op_bench *bench, const struct qk_case *one,
                             struct arrays *arrays, int part)
{
    struct part *own = &arrays->parts[part];
    const int64_t count = one->rows * groups_of(one, part);
    const struct yk_norm_op forward = {.rows = one->rows,
                                       .groups = groups_of(one, part),
                                       .width = width_of(one, part),
                                       .epsilon = epsilon};
    const struct reference_norm numbers = {
        .x = x_of(bench, one, arrays->x, part),
        .weight = own->weight->values,
        .bias = one->layer ? own->bias->values : NULL,
        .y = op_room(bench, one->rows * columns_of(one, part)),
        .mean = op_room(bench, count),
        .rstd = op_room(bench, count),
    };
    reference_norm(&forward, &numbers);
    own->mean = op_given(bench, FP32, 1, count, count, numbers.mean);
    own->rstd = op_given(bench, FP32, 1, count, count, numbers.rstd);
}

static struct yk_norm_backward_op norm_backward_op(const struct qk_case *one,
                                                   const struct arrays *arrays, int part)
{
    const struct part *own = &arrays->parts[part];
    return (struct yk_norm_backward_op){
        .rows = one->rows,
        .groups = groups_of(one, part),
        .width = width_of(one, part),
        .x_stride = arrays->x->stride,
        .dy_stride = arrays->rotated->stride,
        .dx_stride = arrays->rotated->stride,
        .x = device_of(arrays->x, one, part),
        .dy = device_of(arrays->rotated, one, part),
        .dx = device_of(arrays->rotated, one, part),
        .weight = own->weight->device,
        .d_weight = one->frozen ? NULL : own->d_weight->device,
        .d_bias = one->layer && !one->frozen ? own->d_bias->device : NULL,
        .mean = one->layer ? own->mean->device : NULL,
        .rstd = own->rstd->device,
        .weight_offset = one->offset,
        .x_type = arrays->x->type,
        .y_type = arrays->rotated->type,
        .weight_type = own->weight->type,
    };
}

static void expect_back(struct op_bench *bench, const struct qk_case *one,
                        const struct yk_qk_norm_backward_op *op, const struct arrays *arrays)
{
    double *dy = op_copy(bench, arrays->rotated);
    double *dx = op_room(bench, one->rows * arrays->rotated->columns);
    /* What is rotated back is rounded to the type of dy, whatever the type of weights is. */
    const double rounded = op_tolerance(bench, arrays->rotated);
    if (op->rotary.cos_sin) {
        reference_rotary(&op->rotary, arrays->cos_sin->values, dy);
    }
    const struct op_array rotated_back = {
        .values = dy, .rows = one->rows, .columns = arrays->rotated->columns};
    for (int part = 0; part < 2; part++) {
        const struct part *own = &arrays->parts[part];
        const struct reference_norm_backward numbers = {
            .x = x_of(bench, one, arrays->x, part),
            .dy = x_of(bench, one, &rotated_back, part),
            .weight = own->weight->values,
            .mean = one->layer ? own->mean->values : NULL,
            .rstd = own->rstd->values,
            .dx = op_room(bench, one->rows * columns_of(one, part)),
            .d_weight = op_copy(bench, own->d_weight),
            .d_bias = op_copy(bench, own->d_bias),
        };
        reference_norm_backward(part == 0 ? &op->q : &op->k, &numbers);
        store_part(one, part, numbers.dx, dx);
        if (!one->frozen) {
            op_expect_within(bench, own->d_weight, "d_weight", numbers.d_weight, 0, rounded);
        }
        if (!one->frozen && one->layer) {
            op_expect_within(bench, own->d_bias, "d_bias", numbers.d_bias, 0, rounded);
        }
    }
    op_expect(bench, arrays->rotated, "dx", dx, 0);
}

static void try_qk_norm_backward(struct op_bench *bench, const struct qk_case *one,
                                 enum yk_precision type, enum yk_precision weight_type)
{
    begin(bench, "qk_norm_backward", one, type, weight_type);
    const int64_t all = columns_of(one, 0) + columns_of(one, 1);
    struct arrays arrays = place(bench, one, type, weight_type);
    arrays.rotated = op_drawn(bench, type, one->rows, all, all + one->gap, 1);
    place_statistics(bench, one, &arrays, 0);
    place_statistics(bench, one, &arrays, 1);
    const struct yk_qk_norm_backward_op op = {.q = norm_backward_op(one, &arrays, 0),
                                              .k = norm_backward_op(one, &arrays, 1),
                                              .rotary = rotary_op(one, &arrays, type, true)};
    op_bench_upload(bench);
    bench->backend->qk_norm_backward(bench->lane, &op);
    op_bench_run(bench);
    expect_back(bench, one, &op, &arrays);
    op_bench_end(bench);
}

void op_table_qk_norm_backward(struct op_bench *bench)
{
    for (int j = 0; j < OP_TYPES; j++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            try_qk_norm_backward(bench, &cases[i], op_types[j], i % 2 == 0 ? op_types[j] : FP32);
        }
    }
}
