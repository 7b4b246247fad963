#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <stddef.h>

struct lora_case {
    int64_t rows;
    int32_t parts;
    int64_t columns[YK_LORA_MAX_PARTS];
    int64_t gap; /* by how much the stride of y or dy is larger than all columns */
};

/* Rows and columns beside those of a tile, a warp and a block, and widths that no GPU is fast at.
 */
static const struct lora_case lora_cases[] = {
    {1, 1, {8, 0, 0}, 0},        {16, 1, {128, 0, 0}, 0},       {17, 2, {24, 24, 0}, 0},
    {33, 1, {1024, 0, 0}, 0},    {100, 1, {1032, 0, 0}, 8},     {40, 2, {136, 264, 0}, 16},
    {130, 3, {200, 64, 64}, 0},  {50, 3, {2304, 1024, 512}, 0}, {700, 3, {48, 16, 16}, 0},
    {65, 2, {2600, 2600, 0}, 0}, {20, 1, {7, 0, 0}, 0},         {31, 2, {24, 25, 0}, 3},
    {9, 1, {64, 0, 0}, 1},       {0, 2, {8, 16, 0}, 0},
};

static const int64_t lora_ranks[] = {1, 2, 6, 8, 16, 17, 24, 32, 33};

/* Whether a GPU has no kernel of its own for a case, but multiplies. */
static bool is_left_to_matmul(const struct lora_case *one, int64_t rank, enum yk_precision type)
{
    int64_t odd = one->gap % 8;
    for (int32_t i = 0; i < one->parts; i++) {
        odd += one->columns[i] % 8;
    }
    return odd > 0 || rank > 32 || yk_precision_bytes(type) != 2;
}

/* ---- forward ---- */

enum addend {
    NO_ADD,
    ADD,
    ADD_OUT, /* y is what is added */
    ADDENDS,
};

static void try_lora(struct op_bench *bench, const struct lora_case *one, int64_t rank,
                     enum yk_precision type, enum addend addend)
{
    static const char *const addend_names[] = {"", " +add", " in place of what is added"};
    if (bench->every > 0 && (rank % 16 != 0 || is_left_to_matmul(one, rank, type))) {
        return;
    }
    op_bench_begin(bench, "lora %s %lldx%lld+%lld+%lld gap %lld rank %lld%s",
                   yk_precision_name(type), (long long)one->rows, (long long)one->columns[0],
                   (long long)one->columns[1], (long long)one->columns[2], (long long)one->gap,
                   (long long)rank, addend_names[addend]);
    const int64_t width = one->columns[0] + one->columns[1] + one->columns[2];
    struct op_array *inner =
        op_drawn(bench, type, one->rows, one->parts * rank, one->parts * rank, 1);
    struct op_array *add =
        addend == NO_ADD ? NULL : op_drawn(bench, type, one->rows, width, width + one->gap, 1);
    struct op_array *y =
        addend == ADD_OUT ? add : op_poisoned(bench, type, one->rows, width, width + one->gap);
    struct yk_lora_op op = {
        .rows = one->rows,
        .rank = rank,
        .inner = inner->device,
        .y = y->device,
        .add = add ? add->device : NULL,
        .y_stride = y->stride,
        .parts = one->parts,
        .scale = rank % 2 == 0 ? 2 : 0.75F,
        .type = type,
    };
    double *expected = add ? op_copy(bench, add) : op_room(bench, one->rows * width);
    int64_t first = 0;
    for (int32_t i = 0; i < one->parts; i++) {
        const struct op_array *factor = op_drawn(bench, type, one->columns[i], rank, rank, 1);
        const struct yk_lora_term term = {
            .rank = rank, .inner_stride = one->parts * rank, .scale = op.scale};
        op.part[i].columns = one->columns[i];
        op.part[i].factor = factor->device;
        reference_add_lora_term(&term, one->rows, one->columns[i], inner->values + i * rank,
                                factor->values, expected + first, width);
        first += one->columns[i];
    }
    op_bench_upload(bench);
    bench->backend->lora(bench->lane, &op);
    op_bench_run(bench);
    op_expect(bench, y, "y", expected, 0);
    op_bench_end(bench);
}

void op_table_lora(struct op_bench *bench)
{
    for (int j = 0; j < OP_TYPES; j++) {
        for (size_t i = 0; i < sizeof lora_cases / sizeof *lora_cases; i++) {
            for (size_t r = 0; r < sizeof lora_ranks / sizeof *lora_ranks; r++) {
                try_lora(bench, &lora_cases[i], lora_ranks[r], op_types[j],
                         (enum addend)((i + r) % ADDENDS));
            }
            for (int addend = NO_ADD; addend < ADDENDS; addend++) {
                try_lora(bench, &lora_cases[i], 16, op_types[j], (enum addend)addend);
                try_lora(bench, &lora_cases[i], 32, op_types[j], (enum addend)addend);
            }
        }
    }
}

/* ---- backward ---- */

/* Arrays of a part. */
struct lora_part {
    struct op_array *factor;
    struct op_array *d_factor;
};

static void expect_gradients(struct op_bench *bench, const struct yk_lora_backward_op *op,
                             const struct op_array *dy, const struct op_array *inner,
                             struct op_array *d_inner, const struct lora_part *parts)
{
    double *expected = op_room(bench, op->rows * op->parts * op->rank);
    int64_t first = 0;
    for (int32_t i = 0; i < YK_LORA_MAX_PARTS && i < op->parts; i++) {
        double *expected_factor = op_copy(bench, parts[i].d_factor);
        reference_lora_backward(op, i, op_columns(bench, dy, first, op->part[i].columns),
                                op_columns(bench, inner, i * op->rank, op->rank),
                                parts[i].factor->values, expected_factor, expected + i * op->rank);
        op_expect(bench, parts[i].d_factor, "d_factor", expected_factor, 0);
        first += op->part[i].columns;
    }
    op_expect(bench, d_inner, "d_inner", expected, 0);
}

static void try_lora_backward(struct op_bench *bench, const struct lora_case *one, int64_t rank,
                              enum yk_precision type)
{
    op_bench_begin(bench, "lora_backward %s %lldx%lld+%lld+%lld gap %lld rank %lld",
                   yk_precision_name(type), (long long)one->rows, (long long)one->columns[0],
                   (long long)one->columns[1], (long long)one->columns[2], (long long)one->gap,
                   (long long)rank);
    const int64_t width = one->columns[0] + one->columns[1] + one->columns[2];
    struct op_array *dy = op_drawn(bench, type, one->rows, width, width + one->gap, 1);
    struct op_array *inner =
        op_drawn(bench, type, one->rows, one->parts * rank, one->parts * rank, 1);
    struct op_array *d_inner =
        op_poisoned(bench, type, one->rows, one->parts * rank, one->parts * rank);
    struct yk_lora_backward_op op = {
        .rows = one->rows,
        .rank = rank,
        .dy = dy->device,
        .dy_stride = dy->stride,
        .inner = inner->device,
        .d_inner = d_inner->device,
        .parts = one->parts,
        .scale = rank % 2 == 0 ? 2 : 0.75F,
        .type = type,
    };
    struct lora_part parts[YK_LORA_MAX_PARTS];
    for (int32_t i = 0; i < YK_LORA_MAX_PARTS; i++) {
        parts[i].factor = op_drawn(bench, type, one->columns[i], rank, rank, 1);
        parts[i].d_factor = op_drawn(bench, type, one->columns[i], rank, rank, 1);
        op.part[i].columns = one->columns[i];
        op.part[i].factor = parts[i].factor->device;
        op.part[i].d_factor = parts[i].d_factor->device;
    }
    op_bench_upload(bench);
    bench->backend->lora_backward(bench->lane, &op);
    op_bench_run(bench);
    expect_gradients(bench, &op, dy, inner, d_inner, parts);
    op_bench_end(bench);
}

static void try_unless_slow(struct op_bench *bench, const struct lora_case *one, int64_t rank,
                            enum yk_precision type)
{
    if (bench->every == 0 || !is_left_to_matmul(one, rank, type)) {
        try_lora_backward(bench, one, rank, type);
    }
}

void op_table_lora_backward(struct op_bench *bench)
{
    /* Many tiles in a column, which several blocks divide among themselves. */
    const struct lora_case tall = {20001, 1, {8, 0, 0}, 0};
    const struct lora_case tall_parts = {20001, 2, {1032, 8, 0}, 0};
    for (int j = 0; j < OP_TYPES; j++) {
        for (size_t i = 0; i < sizeof lora_cases / sizeof *lora_cases; i++) {
            for (size_t r = 0; r < sizeof lora_ranks / sizeof *lora_ranks; r++) {
                try_unless_slow(bench, &lora_cases[i], lora_ranks[r], op_types[j]);
            }
        }
        for (int64_t rank = 16; rank <= 17; rank++) {
            try_unless_slow(bench, &tall, rank, op_types[j]);
            if (bench->every == 0) {
                try_unless_slow(bench, &tall_parts, rank, op_types[j]);
            }
        }
    }
}
