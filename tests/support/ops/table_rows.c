#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>

/* ---- embedding ---- */

struct embed_case {
    int64_t rows;
    int64_t width;
    int64_t sequence;
    int32_t vocabulary;
    enum yk_precision table_type;
    enum yk_precision out_type;
    bool positions;
};

/* Where there are more rows than tokens, tokens come again. */
static const struct embed_case embed_cases[] = {
    {1, 1, 1, 1, FP32, FP32, true},      {21, 17, 7, 50, FP32, FP32, true},
    {21, 17, 7, 5, BF16, BF16, true},    {34, 65, 17, 300, FP16, FP16, true},
    {130, 7, 65, 3, FP32, FP32, true},   {130, 130, 130, 1000, FP32, BF16, true},
    {21, 17, 7, 50, FP32, FP32, false},  {21, 17, 7, 50, BF16, FP32, false},
    {600, 17, 200, 2, FP32, FP32, true}, {600, 17, 200, 2, BF16, BF16, true},
    {600, 17, 50, 2, FP16, FP16, true},  {1100, 17, 50, 2000, FP32, FP32, true},
    {3, 4200, 2, 5, BF16, BF16, true},   {70, 300, 70, 100, FP32, FP32, true},
    {0, 17, 7, 50, FP32, FP32, true},
};

static void begin_embedding(struct op_bench *bench, const char *op, const struct embed_case *one,
                            bool shift, float scale)
{
    op_bench_begin(bench, "%s %lldx%lld sequence %lld vocabulary %d table %s out %s%s%s scale %g",
                   op, (long long)one->rows, (long long)one->width, (long long)one->sequence,
                   (int)one->vocabulary, yk_precision_name(one->table_type),
                   yk_precision_name(one->out_type), one->positions ? " positions" : "",
                   shift ? " shift" : "", (double)scale);
}

static void try_embedding(struct op_bench *bench, const struct embed_case *one, bool shift,
                          float scale)
{
    begin_embedding(bench, "embedding", one, shift, scale);
    const int64_t width = one->width;
    struct op_array *tokens = op_indices(bench, one->rows, 0, one->vocabulary);
    struct op_array *table = op_drawn(bench, one->table_type, one->vocabulary, width, width, 1);
    struct op_array *positions =
        op_drawn(bench, one->table_type, one->sequence + 1, width, width, 1);
    struct op_array *added = op_drawn(bench, one->table_type, 1, width, width, 1);
    struct op_array *out = op_poisoned(bench, one->out_type, one->rows, width, width);
    const struct yk_embedding_op op = {
        .rows = one->rows,
        .width = width,
        .sequence = one->sequence,
        .vocabulary = one->vocabulary,
        .tokens = tokens->device,
        .table = table->device,
        .positions = one->positions ? positions->device : NULL,
        .shift = shift ? added->device : NULL,
        .out = out->device,
        .scale = scale,
        .table_type = one->table_type,
        .out_type = one->out_type,
    };
    op_bench_upload(bench);
    bench->backend->embedding(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, one->rows * width);
    reference_embedding(&op, tokens->indices, table->values,
                        one->positions ? positions->values : NULL, shift ? added->values : NULL,
                        expected);
    op_expect(bench, out, "out", expected, 0);
    op_bench_end(bench);
}

void op_table_embedding(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof embed_cases / sizeof *embed_cases; i++) {
        for (int j = 0; j < 4; j++) {
            const float scale = j & 2 ? 22.627417F : 1; /* the root of 512, and none */
            try_embedding(bench, &embed_cases[i], j & 1, scale);
        }
    }
}

static void try_embedding_backward(struct op_bench *bench, const struct embed_case *one,
                                   bool with_table, float scale)
{
    begin_embedding(bench, with_table ? "embedding_backward" : "embedding_backward without table",
                    one, false, scale);
    const int64_t width = one->width;
    struct op_array *tokens = op_indices(bench, one->rows, 0, one->vocabulary);
    struct op_array *d_out = op_drawn(bench, one->out_type, one->rows, width, width, 1);
    struct op_array *d_table = op_drawn(bench, one->table_type, one->vocabulary, width, width, 1);
    struct op_array *d_positions =
        op_drawn(bench, one->table_type, one->sequence + 1, width, width, 1);
    for (int64_t i = 0; i < one->rows * width; i++) {
        d_out->values[i] += 1; /* sums that grow show where they are kept in 16 bits */
    }
    op_store(d_out);
    const struct yk_embedding_backward_op op = {
        .rows = one->rows,
        .width = width,
        .sequence = one->sequence,
        .vocabulary = one->vocabulary,
        .tokens = tokens->device,
        .d_out = d_out->device,
        .d_table = with_table ? d_table->device : NULL,
        .d_positions = one->positions ? d_positions->device : NULL,
        .scale = scale,
        .table_type = one->table_type,
        .out_type = one->out_type,
    };
    op_bench_upload(bench);
    bench->backend->embedding_backward(bench->lane, &op);
    op_bench_run(bench);
    double *expected_table = op_copy(bench, d_table);
    double *expected_positions = op_copy(bench, d_positions);
    reference_embedding_backward(&op, tokens->indices, d_out->values, expected_table,
                                 expected_positions);
    if (with_table) {
        op_expect(bench, d_table, "d_table", expected_table, 0);
    }
    if (one->positions) {
        op_expect(bench, d_positions, "d_positions", expected_positions, 0);
    }
    op_bench_end(bench);
}

void op_table_embedding_backward(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof embed_cases / sizeof *embed_cases; i++) {
        try_embedding_backward(bench, &embed_cases[i], true, 1);
        try_embedding_backward(bench, &embed_cases[i], false, 1);
        try_embedding_backward(bench, &embed_cases[i], true, -2.5F);
    }
}

/* ---- rotation ---- */

struct rotary_case {
    int64_t rows;
    int64_t sequence;
    int64_t heads;
    int64_t head_size;
    int64_t gap; /* by how much the stride is larger than what is rotated */
    int64_t head_stride;
    int64_t rotary_size;
};

static const struct rotary_case rotary_cases[] = {
    {1, 1, 1, 2, 0, 0, 0},         {3, 3, 1, 6, 1, 0, 0},
    {14, 7, 3, 16, 32, 0, 0},      {34, 17, 2, 64, 0, 0, 0},
    {130, 65, 1, 128, 0, 0, 0},    {65, 65, 5, 34, 3, 0, 0},
    {40, 17, 3, 64, 16, 0, 0},     {0, 7, 2, 8, 0, 0, 0},
    {34, 17, 3, 64, 128, 192, 16}, /* GPT-NeoX: between a head's keys and values, a quarter */
    {14, 7, 2, 80, 3, 0, 32},      {14, 7, 4, 96, 0, 288, 24},
    {40, 17, 2, 128, 64, 128, 64}, {9, 9, 1, 256, 0, 0, 256},
    {12, 5, 3, 7, 2, 9, 4}, /* an odd rest */
    {12, 5, 3, 64, 0, 0, 6},       {0, 7, 2, 8, 0, 24, 4},
};

struct op_array *op_table_angles(struct op_bench *bench, int64_t sequence, int64_t half)
{
    double *angles = op_room(bench, sequence * half * 2);
    for (int64_t i = 0; i < sequence * half; i++) {
        const int64_t position = i / half;
        const int64_t pair = i % half;
        const double turn = (double)position * pow(10000, -(double)pair / (double)half);
        angles[2 * i] = cos(turn);
        angles[2 * i + 1] = sin(turn);
    }
    return op_given(bench, FP32, sequence, 2 * half, 2 * half, angles);
}

/* What is not rotated must keep its bits. */
static void expect_rotated(struct op_bench *bench, const struct yk_rotary_op *op,
                           struct op_array *data, const double *cos_sin)
{
    const int64_t head_stride = op->head_stride > 0 ? op->head_stride : op->head_size;
    const int64_t rotated = op->rotary_size > 0 ? op->rotary_size : op->head_size;
    const int64_t size = op->head_size;
    double *expected = op_copy(bench, data);
    double *heads = op_room(bench, op->rows * op->heads * size);
    for (int64_t i = 0; i < op->rows * op->heads * size; i++) {
        const int64_t head = i / size % op->heads;
        heads[i] = expected[i / size / op->heads * data->columns + head * head_stride + i % size];
    }
    reference_rotary(op, cos_sin, heads);
    for (int64_t i = 0; i < op->rows * op->heads * size; i++) {
        const int64_t head = i / size % op->heads;
        expected[i / size / op->heads * data->columns + head * head_stride + i % size] = heads[i];
    }
    op_expect(bench, data, "data", expected, 0);
    for (int64_t i = 0; i < data->rows * data->columns; i++) {
        if (i % data->columns % head_stride >= rotated && data->results[i] != data->values[i]) {
            op_complain(bench, "number %lld was %g and became %g", (long long)i, data->values[i],
                        data->results[i]);
            return;
        }
    }
}

static void try_rotary(struct op_bench *bench, const struct rotary_case *one,
                       enum yk_precision type, bool back)
{
    op_bench_begin(bench,
                   "rotary %s%s rows %lld sequence %lld heads %lld x %lld gap %lld step "
                   "%lld of each %lld",
                   yk_precision_name(type), back ? " back" : "", (long long)one->rows,
                   (long long)one->sequence, (long long)one->heads, (long long)one->head_size,
                   (long long)one->gap, (long long)one->head_stride, (long long)one->rotary_size);
    const int64_t head_stride = one->head_stride > 0 ? one->head_stride : one->head_size;
    const int64_t width = (one->heads - 1) * head_stride + one->head_size;
    const int64_t half = (one->rotary_size > 0 ? one->rotary_size : one->head_size) / 2;
    struct op_array *data = op_drawn(bench, type, one->rows, width, width + one->gap, 1);
    struct op_array *cos_sin = op_table_angles(bench, one->sequence, half);
    const struct yk_rotary_op op = {
        .rows = one->rows,
        .sequence = one->sequence,
        .heads = one->heads,
        .head_size = one->head_size,
        .head_stride = one->head_stride,
        .rotary_size = one->rotary_size,
        .stride = data->stride,
        .data = data->device,
        .cos_sin = cos_sin->device,
        .inverse = back,
        .type = type,
    };
    op_bench_upload(bench);
    bench->backend->rotary(bench->lane, &op);
    op_bench_run(bench);
    expect_rotated(bench, &op, data, cos_sin->values);
    op_bench_end(bench);
}

void op_table_rotary(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof rotary_cases / sizeof *rotary_cases; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            try_rotary(bench, &rotary_cases[i], op_types[j], false);
            try_rotary(bench, &rotary_cases[i], op_types[j], true);
        }
    }
}

/* ---- gate ---- */

static const int64_t gate_sizes[][2] = {{1, 1},    {3, 7},    {17, 65},  {65, 17},
                                        {7, 1030}, {3, 5000}, {50, 700}, {0, 7}};

static const char *const activation_names[] = {
    [YK_ACTIVATION_GELU_TANH] = "gelu_tanh",
    [YK_ACTIVATION_GELU] = "gelu",
    [YK_ACTIVATION_RELU] = "relu",
    [YK_ACTIVATION_SILU] = "silu",
    [YK_ACTIVATION_RELU_SQUARED] = "relu_squared",
};

static const enum yk_activation activations[] = {YK_ACTIVATION_SILU, YK_ACTIVATION_GELU_TANH,
                                                 YK_ACTIVATION_GELU, YK_ACTIVATION_RELU,
                                                 YK_ACTIVATION_RELU_SQUARED};

/* exp(200) is no fp32; the cube of it is no fp16. */
static double largest_gate(enum yk_activation activation)
{
    return activation == YK_ACTIVATION_RELU_SQUARED ? 20 : 200;
}

struct gate_case {
    const int64_t *size; /* rows, width */
    enum yk_precision type;
    enum yk_activation activation;
    double large;  /* the size of gate and up */
    int64_t rank;  /* of terms of adapters; 0 means: none */
    bool in_place; /* backward */
};

static void begin_gate(struct op_bench *bench, const char *name, const struct gate_case *one)
{
    op_bench_begin(bench, "%s %s %s %lldx%lld up to %g, rank %lld%s", name,
                   activation_names[one->activation], yk_precision_name(one->type),
                   (long long)one->size[0], (long long)one->size[1], one->large,
                   (long long)one->rank, one->in_place ? " in place" : "");
}

/* Draws a term, and adds it to numbers of which rows are `stride` apart. `*drawn` is its inner
 * matrix; NULL is allowed. */
static struct yk_lora_term draw_term(struct op_bench *bench, const struct gate_case *one,
                                     bool transposed, double *to, int64_t stride,
                                     const double **drawn)
{
    const int64_t rows = one->size[0];
    const int64_t columns = one->size[1];
    const int64_t gap = one->rank == 24 ? 4 : 0; /* rows that are not aligned */
    const int64_t inner_stride = transposed ? one->rank : 2 * one->rank + gap;
    struct op_array *inner = op_drawn(bench, one->type, rows, inner_stride, inner_stride, 1);
    struct op_array *factor = transposed
                                  ? op_drawn(bench, one->type, one->rank, columns, columns, 1)
                                  : op_drawn(bench, one->type, columns, one->rank, one->rank, 1);
    const int64_t first = transposed ? 0 : one->rank; /* the second half, as of two parts */
    const struct yk_lora_term term = {
        .inner = (const char *)inner->device + first * yk_precision_bytes(one->type),
        .inner_stride = inner_stride,
        .rank = one->rank,
        .factor = factor->device,
        .factor_transposed = transposed,
        .scale = one->rank % 2 == 0 && !transposed ? 0.5F : 0.75F,
    };
    reference_add_lora_term(&term, rows, columns, inner->values + first, factor->values, to,
                            stride);
    if (drawn) {
        *drawn = inner->values + first;
    }
    return term;
}

static void try_glu(struct op_bench *bench, const struct gate_case *one)
{
    const int64_t rows = one->size[0];
    const int64_t width = one->size[1];
    begin_gate(bench, "glu", one);
    struct op_array *gate_up = op_drawn(bench, one->type, rows, 2 * width, 2 * width, one->large);
    struct op_array *out = op_poisoned(bench, one->type, rows, width, width);
    double *sum = op_copy(bench, gate_up);
    struct yk_glu_op op = {.rows = rows,
                           .width = width,
                           .activation = one->activation,
                           .gate_up = gate_up->device,
                           .out = out->device,
                           .type = one->type};
    if (one->rank > 0) {
        op.gate_term = draw_term(bench, one, false, sum, 2 * width, NULL);
        op.up_term = draw_term(bench, one, false, sum + width, 2 * width, NULL);
    }
    op_bench_upload(bench);
    bench->backend->glu(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, rows * width);
    reference_glu(&op, sum, expected);
    op_expect(bench, out, "out", expected, 0);
    op_bench_end(bench);
}

static void try_glu_backward(struct op_bench *bench, const struct gate_case *one)
{
    const int64_t rows = one->size[0];
    const int64_t width = one->size[1];
    begin_gate(bench, "glu_backward", one);
    struct op_array *gate_up = op_drawn(bench, one->type, rows, 2 * width, 2 * width, one->large);
    struct op_array *d_out = op_drawn(bench, one->type, rows, width, width, 1);
    struct op_array *d_gate_up =
        one->in_place ? gate_up : op_poisoned(bench, one->type, rows, 2 * width, 2 * width);
    double *sum = op_copy(bench, gate_up);
    double *d_sum = op_copy(bench, d_out);
    struct yk_glu_backward_op op = {.rows = rows,
                                    .width = width,
                                    .activation = one->activation,
                                    .gate_up = gate_up->device,
                                    .d_out = d_out->device,
                                    .d_gate_up = d_gate_up->device,
                                    .type = one->type};
    struct op_array *d_factor = NULL;
    double *expected_d_factor = NULL;
    if (one->rank > 0) {
        const double *inner = NULL;
        double *out = op_room(bench, rows * width);
        op.gate_term = draw_term(bench, one, false, sum, 2 * width, NULL);
        op.up_term = draw_term(bench, one, false, sum + width, 2 * width, NULL);
        op.d_out_term = draw_term(bench, one, true, d_sum, width, &inner);
        reference_glu(
            &(struct yk_glu_op){.rows = rows, .width = width, .activation = one->activation}, sum,
            out);
        op.out = op_given(bench, one->type, rows, width, width, out)->device;
        /* Parameters follow each other without gaps. */
        const int64_t before = one->rank % 4 == 2 ? 1 : 0;
        d_factor = op_drawn(bench, one->type, 1, before + one->rank * width,
                            before + one->rank * width, 1);
        op.d_factor = (char *)d_factor->device + before * yk_precision_bytes(one->type);
        expected_d_factor = op_copy(bench, d_factor);
        reference_glu_backward_factor(&op, inner, out, expected_d_factor + before);
    }
    op_bench_upload(bench);
    bench->backend->glu_backward(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, rows * 2 * width);
    reference_glu_backward(&op, sum, d_sum, expected);
    op_expect(bench, d_gate_up, "d_gate_up", expected, 0);
    if (d_factor) {
        op_expect(bench, d_factor, "d_factor", expected_d_factor, 0);
    }
    op_bench_end(bench);
}

/* More rows than a GPU computes at a time, and not a multiple of what it does at once. */
static void try_terms_of_many_rows(struct op_bench *bench,
                                   void (*try)(struct op_bench *, const struct gate_case *),
                                   bool backward)
{
    const int64_t size[] = {bench->every > 0 ? 1003 : 70003, 8};
    static const int64_t ranks[] = {8, 17, 32};
    for (int j = 0; j < OP_TYPES; j++) {
        struct gate_case one = {.size = size,
                                .type = op_types[j],
                                .activation = YK_ACTIVATION_SILU,
                                .large = 3,
                                .in_place = backward};
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            one.rank = ranks[r];
            if (yk_precision_bytes(one.type) == 2) {
                try(bench, &one);
            }
        }
    }
}

/* Widths beside those of a warp and of a block, ranks beside those of a product on tensor cores. */
static void try_terms(struct op_bench *bench,
                      void (*try)(struct op_bench *, const struct gate_case *), bool backward)
{
    static const int64_t sizes[][2] = {{1, 8}, {17, 24}, {40, 136}, {100, 264}, {7, 4104}, {0, 8}};
    static const int64_t ranks[] = {1, 2, 6, 8, 16, 17, 24, 32};
    for (size_t k = 0; k < sizeof activations / sizeof *activations; k++) {
        for (int j = 0; j < OP_TYPES; j++) {
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct gate_case one = {.size = sizes[i],
                                        .type = op_types[j],
                                        .activation = activations[k],
                                        .large = 3};
                for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
                    one.rank = ranks[r];
                    one.in_place = backward && r % 2 == 0;
                    if (yk_ops_glu_supports_lora_terms(one.type, one.activation, one.size[1],
                                                       one.rank)) {
                        try(bench, &one);
                    }
                }
            }
        }
    }
}

void op_table_glu(struct op_bench *bench)
{
    for (size_t k = 0; k < sizeof activations / sizeof *activations; k++) {
        for (int j = 0; j < OP_TYPES; j++) {
            struct gate_case one = {.type = op_types[j], .activation = activations[k], .large = 3};
            for (size_t i = 0; i < sizeof gate_sizes / sizeof *gate_sizes; i++) {
                one.size = gate_sizes[i];
                try_glu(bench, &one);
            }
            one.size = gate_sizes[2];
            one.large = largest_gate(activations[k]);
            try_glu(bench, &one);
        }
    }
    try_terms(bench, try_glu, false);
    try_terms_of_many_rows(bench, try_glu, false);
}

void op_table_glu_backward(struct op_bench *bench)
{
    for (size_t k = 0; k < sizeof activations / sizeof *activations; k++) {
        for (int j = 0; j < OP_TYPES; j++) {
            struct gate_case one = {.type = op_types[j], .activation = activations[k], .large = 3};
            for (size_t i = 0; i < 2 * sizeof gate_sizes / sizeof *gate_sizes; i++) {
                one.size = gate_sizes[i / 2];
                one.in_place = i % 2 == 1;
                try_glu_backward(bench, &one);
            }
            one.size = gate_sizes[2];
            one.in_place = true;
            one.large = largest_gate(activations[k]);
            try_glu_backward(bench, &one);
        }
    }
    try_terms(bench, try_glu_backward, true);
    try_terms_of_many_rows(bench, try_glu_backward, true);
}
