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

static const int64_t sizes_in_chunks[][2] = {{17, 704}, {17, 128}};
static const int64_t tall[2] = {600, 33};  /* sums of many rows in 16 bits */
static const int64_t wide[2] = {2, 5000};  /* more than is worked on at once */
static const int64_t large[2] = {50, 700}; /* enough for threads to share */

enum addend {
    NO_ADD,
    ADD,
    ADD_OUT, /* the result is the addend: y, or dx of the backward op */
    DY_DX,   /* dx is dy; of the backward op only */
};

/* Rows of several groups, strides that are larger than rows, and what else is not usual. */
struct grouped {
    int64_t groups; /* 0: one, and what the op takes 0 for */
    int64_t gap;    /* strides are larger than rows by one, two or three of it; 0: passed as 0 */
    float offset;   /* of the weight */
};

struct norm_case {
    const int64_t *size; /* rows and width */
    struct grouped grouped;
    bool rms;
    bool frozen; /* weight and bias have no gradients */
    enum addend addend;
    double middle; /* of x */
    int64_t shift; /* numbers in front of weight and bias, so that they are not aligned */
};

static void begin(struct op_bench *bench, const char *op, const struct norm_case *one,
                  const struct types *type)
{
    static const char *const addend_names[] = {"", " +add", " in place of what is added",
                                               " dx over dy"};
    op_bench_begin(
        bench, "%s %s %lldx%lldx%lld gap %lld offset %g x %s y %s weight %s%s%s%s%s", op,
        one->rms ? "rms" : "layer", (long long)one->size[0], (long long)one->grouped.groups,
        (long long)one->size[1], (long long)one->grouped.gap, (double)one->grouped.offset,
        yk_precision_name(type->x), yk_precision_name(type->y), yk_precision_name(type->weight),
        addend_names[one->addend], one->frozen ? " frozen" : "",
        one->middle != 0 ? " far from 0" : "", one->shift > 0 ? " shifted" : "");
}

static int64_t groups_of(const struct norm_case *one)
{
    return one->grouped.groups > 0 ? one->grouped.groups : 1;
}

static int64_t row_of(const struct norm_case *one)
{
    return groups_of(one) * one->size[1];
}

/* The stride that the op is given. */
static int64_t given_stride(const struct norm_case *one, const struct op_array *array)
{
    return one->grouped.gap > 0 ? array->stride : 0;
}

static struct op_array *draw(struct op_bench *bench, const struct norm_case *one,
                             enum yk_precision type, int gaps, double size)
{
    return op_drawn(bench, type, one->size[0], row_of(one), row_of(one) + gaps * one->grouped.gap,
                    size);
}

static struct op_array *poison(struct op_bench *bench, const struct norm_case *one,
                               enum yk_precision type, int gaps)
{
    return op_poisoned(bench, type, one->size[0], row_of(one),
                       row_of(one) + gaps * one->grouped.gap);
}

/* Rows whose mean is far from 0 show whether the variance is taken about it. */
static struct op_array *draw_far(struct op_bench *bench, const struct norm_case *one,
                                 enum yk_precision type)
{
    struct op_array *x = draw(bench, one, type, 1, 2);
    for (int64_t i = 0; i < one->size[0] * row_of(one); i++) {
        x->values[i] += one->middle;
    }
    op_store(x);
    return x;
}

static void *shifted(const struct norm_case *one, const struct op_array *array)
{
    return yk_precision_element_address(array->type, array->device, one->shift);
}

struct forward {
    struct op_array *x;
    struct op_array *y;
    struct op_array *add;
    struct op_array *weight;
    struct op_array *bias;
    struct op_array *mean;
    struct op_array *rstd;
};

static struct forward place_forward(struct op_bench *bench, const struct norm_case *one,
                                    const struct types *type)
{
    const int64_t width = one->size[1];
    const int64_t count = one->size[0] * groups_of(one);
    struct forward forward = {
        .x = draw_far(bench, one, type->x),
        .weight = op_drawn(bench, type->weight, 1, one->shift + width, one->shift + width, 2),
        .bias = op_drawn(bench, type->weight, 1, one->shift + width, one->shift + width, 2),
        .mean = op_poisoned(bench, FP32, 1, count, count),
        .rstd = op_poisoned(bench, FP32, 1, count, count),
    };
    forward.y =
        one->addend == ADD_OUT ? draw(bench, one, type->y, 2, 2) : poison(bench, one, type->y, 2);
    forward.add = one->addend == ADD       ? draw(bench, one, type->y, 2, 2)
                  : one->addend == ADD_OUT ? forward.y
                                           : NULL;
    return forward;
}

static void expect_forward(struct op_bench *bench, const struct norm_case *one,
                           const struct yk_norm_op *op, const struct forward *forward)
{
    const int64_t count = one->size[0] * groups_of(one);
    const struct reference_norm numbers = {
        .x = forward->x->values,
        .weight = forward->weight->values + one->shift,
        .bias = one->rms ? NULL : forward->bias->values + one->shift,
        .add = forward->add ? forward->add->values : NULL,
        .y = op_room(bench, count * one->size[1]),
        .mean = op_room(bench, count),
        .rstd = op_room(bench, count),
    };
    reference_norm(op, &numbers);
    op_expect(bench, forward->y, "y", numbers.y, 0);
    op_expect(bench, forward->rstd, "rstd", numbers.rstd, 0);
    if (!one->rms) {
        op_expect(bench, forward->mean, "mean", numbers.mean, 0.1);
    }
}

static void try_norm(struct op_bench *bench, struct norm_case one, const struct types *type)
{
    begin(bench, "norm", &one, type);
    const struct forward forward = place_forward(bench, &one, type);
    const struct yk_norm_op op = {
        .rows = one.size[0],
        .groups = one.grouped.groups,
        .width = one.size[1],
        .x_stride = given_stride(&one, forward.x),
        .y_stride = given_stride(&one, forward.y),
        .x = forward.x->device,
        .y = forward.y->device,
        .add = forward.add ? forward.add->device : NULL,
        .weight = shifted(&one, forward.weight),
        .bias = one.rms ? NULL : shifted(&one, forward.bias),
        .mean = one.rms ? NULL : forward.mean->device,
        .rstd = forward.rstd->device,
        .epsilon = epsilon,
        .weight_offset = one.grouped.offset,
        .x_type = type->x,
        .y_type = type->y,
        .weight_type = type->weight,
    };
    op_bench_upload(bench);
    bench->backend->norm(bench->lane, &op);
    op_bench_run(bench);
    expect_forward(bench, &one, &op, &forward);
    op_bench_end(bench);
}

/* Heads of queries and keys, in arrays of their own and among others; and whole rows. */
static const struct {
    int64_t size[2];
    struct grouped grouped;
} grouped_cases[] = {
    {{17, 64}, {4, 0, 0}},   {{17, 64}, {4, 256, 1}}, {{7, 80}, {3, 5, 0}}, {{33, 128}, {8, 64, 0}},
    {{9, 256}, {2, 512, 1}}, {{5, 96}, {6, 8, 0}},    {{65, 7}, {3, 0, 1}}, {{600, 16}, {2, 0, 0}},
    {{3, 1030}, {2, 2, 0}},  {{2, 4200}, {3, 8, 1}},  {{0, 64}, {4, 0, 0}}, {{1, 1}, {2, 1, 1}},
};

static const struct {
    int64_t size[2];
    struct grouped grouped;
} row_cases[] = {
    {{17, 65}, {0, 0, 1}},  {{9, 700}, {0, 12, 0}}, {{9, 704}, {1, 8, 1}},   {{2, 5000}, {0, 3, 1}},
    {{2, 5000}, {0, 8, 0}}, {{130, 24}, {0, 8, 0}}, {{40, 1536}, {0, 0, 1}}, {{3, 8}, {1, 0, 0}},
};

/* Layer norms take turns with root mean squares, by the number of the case. */
static void try_norms_of_groups(struct op_bench *bench)
{
    for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
        for (size_t i = 0; i < sizeof grouped_cases / sizeof *grouped_cases; i++) {
            const struct norm_case one = {.size = grouped_cases[i].size,
                                          .grouped = grouped_cases[i].grouped,
                                          .rms = (i + j) % 3 != 0};
            try_norm(bench, one, &types[j]);
        }
        for (int64_t shift = 1; shift <= 3; shift++) {
            struct norm_case one = {.size = sizes_in_chunks[shift % 2],
                                    .grouped = {shift % 2 * 4, 0, 1},
                                    .rms = j % 2 != 0,
                                    .shift = shift};
            try_norm(bench, one, &types[j]);
        }
        for (size_t i = 0; i < sizeof row_cases / sizeof *row_cases; i++) {
            struct norm_case one = {.size = row_cases[i].size,
                                    .grouped = row_cases[i].grouped,
                                    .rms = (i + j) % 3 != 0};
            for (int addend = NO_ADD; addend <= ADD_OUT; addend++) {
                one.addend = (enum addend)addend;
                try_norm(bench, one, &types[j]);
            }
        }
    }
}

void op_table_norm(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            try_norm(bench, (struct norm_case){.size = sizes[i]}, &types[j]);
            try_norm(bench, (struct norm_case){.size = sizes[i], .rms = true}, &types[j]);
        }
    }
    for (int rms = 0; rms < 2; rms++) {
        try_norm(bench, (struct norm_case){.size = wide, .rms = rms}, &types[0]);
        try_norm(bench, (struct norm_case){.size = wide, .rms = rms}, &types[1]);
        try_norm(bench, (struct norm_case){.size = large, .rms = rms}, &types[0]);
        try_norm(bench, (struct norm_case){.size = large, .rms = rms}, &types[4]);
    }
    try_norm(bench, (struct norm_case){.size = sizes[5], .middle = 30}, &types[0]);
    try_norm(bench, (struct norm_case){.size = sizes[6], .middle = 30}, &types[1]);
    try_norms_of_groups(bench);
}

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
static struct back place(struct op_bench *bench, const struct norm_case *one,
                         const struct types *type)
{
    const int64_t width = one->size[1];
    const int64_t count = one->size[0] * groups_of(one);
    struct back back = {
        .x = draw(bench, one, type->x, 1, 2),
        .dy = draw(bench, one, type->y, 2, 1),
        .weight = op_drawn(bench, type->weight, 1, width, width, 2),
        .d_weight = op_drawn(bench, type->weight, 1, width, width, 1),
        .d_bias = op_drawn(bench, type->weight, 1, width, width, 1),
    };
    back.dx = one->addend == ADD_OUT ? draw(bench, one, type->x, 3, 1)
              : one->addend == DY_DX ? back.dy
                                     : poison(bench, one, type->x, 3);
    back.add = one->addend == ADD ? draw(bench, one, type->x, 3, 1) : back.dx;
    const struct yk_norm_op forward = {
        .rows = one->size[0], .groups = one->grouped.groups, .width = width, .epsilon = epsilon};
    const struct reference_norm numbers = {
        .x = back.x->values,
        .weight = back.weight->values,
        .bias = one->rms ? NULL : back.weight->values,
        .y = op_room(bench, count * width),
        .mean = op_room(bench, count),
        .rstd = op_room(bench, count),
    };
    reference_norm(&forward, &numbers);
    back.mean = op_given(bench, FP32, 1, count, count, numbers.mean);
    back.rstd = op_given(bench, FP32, 1, count, count, numbers.rstd);
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
        .dx = op_room(bench, back->dx->rows * back->dx->columns),
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

static void try_norm_backward(struct op_bench *bench, struct norm_case one,
                              const struct types *type)
{
    begin(bench, "norm_backward", &one, type);
    const struct back back = place(bench, &one, type);
    const struct yk_norm_backward_op op = {
        .rows = one.size[0],
        .groups = one.grouped.groups,
        .width = one.size[1],
        .x_stride = given_stride(&one, back.x),
        .dy_stride = given_stride(&one, back.dy),
        .dx_stride = given_stride(&one, back.dx),
        .x = back.x->device,
        .dy = back.dy->device,
        .dx = back.dx->device,
        .add = one.addend == ADD || one.addend == ADD_OUT ? back.add->device : NULL,
        .weight = back.weight->device,
        .d_weight = one.frozen ? NULL : back.d_weight->device,
        .d_bias = one.frozen || one.rms ? NULL : back.d_bias->device,
        .mean = one.rms ? NULL : back.mean->device,
        .rstd = back.rstd->device,
        .weight_offset = one.grouped.offset,
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

/* Every addend in some types, and some addends in every type. */
static void try_backward_of_groups(struct op_bench *bench)
{
    for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
        for (size_t i = 0; i < sizeof grouped_cases / sizeof *grouped_cases; i++) {
            struct norm_case one = {.size = grouped_cases[i].size,
                                    .grouped = grouped_cases[i].grouped,
                                    .rms = (i + j) % 3 != 0,
                                    .frozen = i % 4 == 3};
            one.addend = (enum addend)((i + j) % 3);
            try_norm_backward(bench, one, &types[j]);
            one.addend = DY_DX;
            if (types[j].x == types[j].y) {
                try_norm_backward(bench, one, &types[j]);
            }
        }
        for (size_t i = 0; i < sizeof row_cases / sizeof *row_cases; i++) {
            struct norm_case one = {.size = row_cases[i].size,
                                    .grouped = row_cases[i].grouped,
                                    .rms = (i + j) % 3 != 0};
            one.addend = (enum addend)((i + j) % 3);
            try_norm_backward(bench, one, &types[j]);
        }
    }
}

void op_table_norm_backward(struct op_bench *bench)
{
    for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
        for (int rms = 0; rms < 2; rms++) {
            struct norm_case one;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                one = (struct norm_case){.size = sizes[i], .rms = rms};
                try_norm_backward(bench, one, &types[j]);
                one.addend = ADD;
                one.frozen = rms;
                try_norm_backward(bench, one, &types[j]);
            }
            one = (struct norm_case){.size = sizes[3], .rms = rms, .addend = ADD_OUT};
            try_norm_backward(bench, one, &types[j]);
            one = (struct norm_case){.size = tall, .rms = rms};
            try_norm_backward(bench, one, &types[j]);
            one = (struct norm_case){.size = sizes[4], .rms = rms, .addend = DY_DX};
            if (types[j].x == types[j].y) {
                try_norm_backward(bench, one, &types[j]);
            }
        }
    }
    for (int rms = 0; rms < 2; rms++) {
        const struct norm_case wide_case = {.size = wide, .rms = rms, .addend = ADD};
        const struct norm_case in_place = {.size = wide, .rms = rms, .addend = DY_DX};
        const struct norm_case large_case = {.size = large, .rms = rms};
        const struct norm_case onto = {.size = large, .rms = rms, .addend = ADD_OUT};
        try_norm_backward(bench, wide_case, &types[0]);
        try_norm_backward(bench, in_place, &types[1]);
        try_norm_backward(bench, large_case, &types[0]);
        try_norm_backward(bench, onto, &types[4]);
    }
    try_norm_backward(bench, (struct norm_case){.size = sizes[3], .frozen = true}, &types[0]);
    try_backward_of_groups(bench);
}
