#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>

static const float epsilon = 1e-5F;

struct types {
    enum yk_precision x;
    enum yk_precision y;
    enum yk_precision weight;
};

static const struct types types[] = {{FP32, FP32, FP32}, {BF16, BF16, BF16}, {FP16, FP16, FP16},
                                     {BF16, BF16, FP32}, {FP32, BF16, FP32}, {BF16, FP32, FP32}};

static const int64_t sizes[][2] = {{1, 1},   {3, 7},    {7, 17},   {17, 65},
                                   {130, 3}, {65, 130}, {3, 1000}, {0, 7}};

static const int64_t tall[2] = {600, 33};  /* sums of many rows in 16 bits */
static const int64_t wide[2] = {2, 5000};  /* more than is worked on at once */
static const int64_t large[2] = {50, 700}; /* enough for threads to share */

static void begin(struct op_bench *bench, const char *op, const int64_t size[2],
                  const struct types *type, bool rms, const char *more)
{
    op_bench_begin(bench, "%s %s %lldx%lld x %s y %s weight %s%s", op, rms ? "rms" : "layer",
                   (long long)size[0], (long long)size[1], yk_precision_name(type->x),
                   yk_precision_name(type->y), yk_precision_name(type->weight), more);
}

/* Rows whose mean is far from 0 show whether the variance is taken about it. */
static struct op_array *draw_far(struct op_bench *bench, enum yk_precision type,
                                 const int64_t size[2], double middle)
{
    struct op_array *x = op_drawn(bench, type, size[0], size[1], size[1], 2);
    for (int64_t i = 0; i < size[0] * size[1]; i++) {
        x->values[i] += middle;
    }
    op_store(x);
    return x;
}

static void try_norm(struct op_bench *bench, const int64_t size[2], const struct types *type,
                     bool rms, double middle)
{
    begin(bench, "norm", size, type, rms, middle != 0 ? " far from 0" : "");
    struct op_array *x = draw_far(bench, type->x, size, middle);
    struct op_array *y = op_poisoned(bench, type->y, size[0], size[1], size[1]);
    struct op_array *weight = op_drawn(bench, type->weight, 1, size[1], size[1], 2);
    struct op_array *bias = op_drawn(bench, type->weight, 1, size[1], size[1], 2);
    struct op_array *mean = op_poisoned(bench, FP32, 1, size[0], size[0]);
    struct op_array *rstd = op_poisoned(bench, FP32, 1, size[0], size[0]);
    const struct yk_norm_op op = {
        .rows = size[0],
        .width = size[1],
        .x = x->device,
        .y = y->device,
        .weight = weight->device,
        .bias = rms ? NULL : bias->device,
        .mean = rms ? NULL : mean->device,
        .rstd = rstd->device,
        .epsilon = epsilon,
        .x_type = type->x,
        .y_type = type->y,
        .weight_type = type->weight,
    };
    op_bench_upload(bench);
    bench->backend->norm(bench->lane, &op);
    op_bench_run(bench);
    const struct reference_norm numbers = {
        .x = x->values,
        .weight = weight->values,
        .bias = rms ? NULL : bias->values,
        .y = op_room(bench, size[0] * size[1]),
        .mean = op_room(bench, size[0]),
        .rstd = op_room(bench, size[0]),
    };
    reference_norm(&op, &numbers);
    op_expect(bench, y, "y", numbers.y, 0);
    op_expect(bench, rstd, "rstd", numbers.rstd, 0);
    if (!rms) {
        op_expect(bench, mean, "mean", numbers.mean, 0.1);
    }
    op_bench_end(bench);
}

void op_table_norm(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            try_norm(bench, sizes[i], &types[j], false, 0);
            try_norm(bench, sizes[i], &types[j], true, 0);
        }
    }
    for (int rms = 0; rms < 2; rms++) {
        try_norm(bench, wide, &types[0], rms, 0);
        try_norm(bench, wide, &types[1], rms, 0);
        try_norm(bench, large, &types[0], rms, 0);
        try_norm(bench, large, &types[4], rms, 0);
    }
    try_norm(bench, sizes[5], &types[0], false, 30);
    try_norm(bench, sizes[6], &types[1], false, 30);
}

enum addend {
    NO_ADD,
    ADD,
    ADD_DX, /* dx is the addend */
    DY_DX,  /* dx is dy */
    ADDENDS,
};

static const char *const addend_names[] = {"", " +add", " +dx", " dx over dy"};

struct back {
    struct op_array *x;
    struct op_array *dy;
    struct op_array *dx;
    struct op_array *add;
    struct op_array *weight;
    struct op_array *d_weight;
    struct op_array *d_bias;
    struct op_array *mean;
    struct op_array *rstd;
};

/* mean and rstd are what the forward op leaves: those of x, in fp32. */
static struct back place(struct op_bench *bench, const int64_t size[2], const struct types *type,
                         bool rms, enum addend addend)
{
    const int64_t rows = size[0];
    const int64_t width = size[1];
    struct back back = {
        .x = op_drawn(bench, type->x, rows, width, width, 2),
        .dy = op_drawn(bench, type->y, rows, width, width, 1),
        .weight = op_drawn(bench, type->weight, 1, width, width, 2),
        .d_weight = op_drawn(bench, type->weight, 1, width, width, 1),
        .d_bias = op_drawn(bench, type->weight, 1, width, width, 1),
    };
    back.dx = addend == ADD_DX  ? op_drawn(bench, type->x, rows, width, width, 1)
              : addend == DY_DX ? back.dy
                                : op_poisoned(bench, type->x, rows, width, width);
    back.add = addend == ADD ? op_drawn(bench, type->x, rows, width, width, 1) : back.dx;
    const struct yk_norm_op forward = {.rows = rows, .width = width, .epsilon = epsilon};
    const struct reference_norm numbers = {
        .x = back.x->values,
        .weight = back.weight->values,
        .bias = rms ? NULL : back.weight->values,
        .y = op_room(bench, rows * width),
        .mean = op_room(bench, rows),
        .rstd = op_room(bench, rows),
    };
    reference_norm(&forward, &numbers);
    back.mean = op_given(bench, FP32, 1, rows, rows, numbers.mean);
    back.rstd = op_given(bench, FP32, 1, rows, rows, numbers.rstd);
    return back;
}

/* How large dx is before the means are taken off, which is all of it in rows of one number. */
static double usual_size(const struct back *back)
{
    double squares = 0;
    for (int64_t i = 0; i < back->rstd->columns; i++) {
        squares += back->rstd->values[i] * back->rstd->values[i];
    }
    return back->rstd->columns > 0 ? 0.3 * sqrt(squares / (double)back->rstd->columns) : 0;
}

static void expect_back(struct op_bench *bench, const struct yk_norm_backward_op *op,
                        const struct back *back)
{
    const struct reference_norm_backward numbers = {
        .x = back->x->values,
        .dy = back->dy->values,
        .add = op->add ? back->add->values : NULL,
        .weight = back->weight->values,
        .mean = op->mean ? back->mean->values : NULL,
        .rstd = back->rstd->values,
        .dx = op_room(bench, op->rows * op->width),
        .d_weight = op_copy(bench, back->d_weight),
        .d_bias = op_copy(bench, back->d_bias),
    };
    reference_norm_backward(op, &numbers);
    op_expect(bench, back->dx, "dx", numbers.dx, usual_size(back));
    if (op->d_weight) {
        op_expect(bench, back->d_weight, "d_weight", numbers.d_weight, 0);
    }
    if (op->d_bias) {
        op_expect(bench, back->d_bias, "d_bias", numbers.d_bias, 0);
    }
}

static void try_norm_backward(struct op_bench *bench, const int64_t size[2],
                              const struct types *type, bool rms, enum addend addend, bool frozen)
{
    begin(bench, frozen ? "norm_backward frozen" : "norm_backward", size, type, rms,
          addend_names[addend]);
    const struct back back = place(bench, size, type, rms, addend);
    const struct yk_norm_backward_op op = {
        .rows = size[0],
        .width = size[1],
        .x = back.x->device,
        .dy = back.dy->device,
        .dx = back.dx->device,
        .add = addend == ADD || addend == ADD_DX ? back.add->device : NULL,
        .weight = back.weight->device,
        .d_weight = frozen ? NULL : back.d_weight->device,
        .d_bias = frozen || rms ? NULL : back.d_bias->device,
        .mean = rms ? NULL : back.mean->device,
        .rstd = back.rstd->device,
        .x_type = type->x,
        .y_type = type->y,
        .weight_type = type->weight,
    };
    op_bench_upload(bench);
    bench->backend->norm_backward(bench->lane, &op);
    op_bench_run(bench);
    expect_back(bench, &op, &back);
    op_bench_end(bench);
}

void op_table_norm_backward(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            for (int rms = 0; rms < 2; rms++) {
                try_norm_backward(bench, sizes[i], &types[j], rms, NO_ADD, false);
                try_norm_backward(bench, sizes[i], &types[j], rms, ADD, rms);
            }
        }
    }
    for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
        for (int rms = 0; rms < 2; rms++) {
            try_norm_backward(bench, sizes[3], &types[j], rms, ADD_DX, false);
            try_norm_backward(bench, tall, &types[j], rms, NO_ADD, false);
            if (types[j].x == types[j].y) {
                try_norm_backward(bench, sizes[4], &types[j], rms, DY_DX, false);
            }
        }
    }
    for (int rms = 0; rms < 2; rms++) {
        try_norm_backward(bench, wide, &types[0], rms, ADD, false);
        try_norm_backward(bench, wide, &types[1], rms, DY_DX, false);
        try_norm_backward(bench, large, &types[0], rms, NO_ADD, false);
        try_norm_backward(bench, large, &types[4], rms, ADD_DX, false);
    }
    try_norm_backward(bench, sizes[3], &types[0], false, NO_ADD, true);
}
