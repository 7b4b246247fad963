#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>

/* ---- dropout ---- */

enum addend {
    NO_ADD,
    ADD,
    ADD_TO,  /* to is the addend */
    FROM_TO, /* to is from */
    FROM_TO_ADD,
    ADDENDS,
};

static void try_dropout(struct op_bench *bench, const int64_t size[3], enum yk_precision type,
                        float rate, float scale, enum addend addend)
{
    static const char *const names[] = {"", " +add", " +to", " in place", " in place +add"};
    const int64_t rows = size[0];
    const int64_t width = size[1];
    op_bench_begin(bench, "dropout %s %lldx%lld sequence %lld rate %g scale %g%s",
                   yk_precision_name(type), (long long)rows, (long long)width, (long long)size[2],
                   (double)rate, (double)scale, names[addend]);
    struct op_array *from = op_drawn(bench, type, rows, width, width, 1);
    struct op_array *add =
        addend != NO_ADD && addend != FROM_TO ? op_drawn(bench, type, rows, width, width, 1) : NULL;
    struct op_array *to = addend == ADD_TO    ? add
                          : addend >= FROM_TO ? from
                                              : op_poisoned(bench, type, rows, width, width);
    const struct yk_dropout_op op = {
        .rows = rows,
        .width = width,
        .sequence = size[2],
        .from = from->device,
        .to = to->device,
        .add = add ? add->device : NULL,
        .scale = scale,
        .dropout = {rate, 0xdeadbeef00000001U, 0x1234567890abcdefU, 1000},
        .type = type,
    };
    op_bench_upload(bench);
    bench->backend->dropout(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, rows * width);
    reference_dropout(&op, from->values, add ? add->values : NULL, expected);
    op_expect(bench, to, "to", expected, 0);
    op_bench_end(bench);
}

void op_table_dropout(struct op_bench *bench)
{
    /* rows, width, sequence: places of a sample that begin anywhere in four words */
    static const int64_t sizes[][3] = {{1, 1, 1},     {3, 7, 1},    {9, 17, 3},
                                       {130, 65, 65}, {7, 1030, 7}, {34, 64, 17},
                                       {65, 3, 130},  {40, 64, 17}, {0, 7, 7}};
    static const float rates[] = {0, 0.3F};
    static const float scales[] = {0, -1.75F};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            for (int addend = NO_ADD; addend < ADDENDS; addend++) {
                for (int k = 0; k < 4; k++) {
                    try_dropout(bench, sizes[i], op_types[j], rates[k % 2], scales[k / 2],
                                (enum addend)addend);
                }
            }
        }
    }
}

/* ---- sums of rows ---- */

static void try_sum_rows(struct op_bench *bench, const int64_t size[3],
                         const enum yk_precision type[2])
{
    op_bench_begin(bench, "sum_rows %lldx%lld gap %lld from %s to %s", (long long)size[0],
                   (long long)size[1], (long long)size[2], yk_precision_name(type[0]),
                   yk_precision_name(type[1]));
    struct op_array *from = op_drawn(bench, type[0], size[0], size[1], size[1] + size[2], 1);
    struct op_array *to = op_drawn(bench, type[1], 1, size[1], size[1], 1);
    for (int64_t i = 0; i < size[0] * size[1]; i++) {
        from->values[i] += 1; /* sums that grow show where they are kept in 16 bits */
    }
    op_store(from);
    const struct yk_sum_rows_op op = {size[0],    size[1], from->device, from->stride,
                                      to->device, type[0], type[1]};
    op_bench_upload(bench);
    bench->backend->sum_rows(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_copy(bench, to);
    reference_sum_rows(&op, from->values, expected);
    op_expect(bench, to, "to", expected, 0);
    op_bench_end(bench);
}

void op_table_sum_rows(struct op_bench *bench)
{
    static const int64_t sizes[][3] = {{1, 1, 0},    {3, 7, 5},     {130, 17, 0},
                                       {65, 130, 3}, {1000, 3, 1},  {2, 1030, 0},
                                       {700, 65, 0}, {40, 2100, 4}, {0, 7, 0}};
    static const enum yk_precision kinds[][2] = {
        {FP32, FP32}, {BF16, BF16}, {FP16, FP16}, {BF16, FP32}, {FP32, BF16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            try_sum_rows(bench, sizes[i], kinds[j]);
        }
    }
}

/* ---- loss ---- */

struct cross_entropy_case {
    int64_t rows;
    int64_t classes;
    double size; /* of the logits */
    int64_t gap; /* by how much the stride is larger than a row */
    float smoothing;
    float factor;
    float softcap;
    bool masked; /* some rows have no target, the first one among them */
};

static const struct cross_entropy_case cross_entropy_cases[] = {
    {1, 1, 3, 0, 0, 1, 0, false},
    {1, 2, 3, 0, 0, 1, 0, false},
    {3, 7, 3, 0, 0, 0.25F, 0, false},
    {7, 17, 3, 0, 0.1F, 0.25F, 0, false},
    {65, 130, 3, 0, 0, 0.125F, 0, true},
    {65, 130, 3, 0, 0.1F, 0.125F, 0, true},
    {17, 1000, 3, 0, 0, 1, 0, true},
    {17, 1000, 3, 0, 0.1F, 1024, 0, true},
    {3, 4099, 10, 0, 0, 1, 0, false},
    {17, 65, 300, 0, 0, 1, 0, false}, /* exp(300) is no fp32 */
    {17, 65, 300, 0, 0.1F, 1, 0, true},
    {17, 65, 3, 0, 0, 0, 0, true},
    {17, 65, 3, 0, 0.1F, 0, 0, false},
    {40, 5003, 3, 0, 0.1F, 1, 0, true},
    {0, 65, 3, 0, 0, 1, 0, false},
    {17, 1001, 3, 7, 0.1F, 1, 0, true},
    {9, 4099, 3, 61, 0, 1, 0, true},
    {33, 520, 3, 8, 0, 0.5F, 0, true},
    /* Caps near the logits, below most of them, and beyond them. */
    {17, 65, 3, 0, 0, 1, 2, true},
    {17, 1000, 60, 0, 0.1F, 1, 30, true},
    {9, 4099, 60, 61, 0, 0.5F, 30, true},
    {3, 4099, 300, 5, 0.1F, 1, 50, false},
    {33, 520, 1, 8, 0.1F, 8, 30, true},
    {17, 65, 60, 0, 0, 0, 30, true},
    {17, 65, 60, 3, 0.1F, 0, 30, false},
    {1, 1, 3, 0, 0, 1, 2, false},
    {40, 5003, 40, 0, 0, 1, 30, true},
    {17, 1000, 60, 0, 0, 1, 30, true},
    {33, 520, 1, 8, 0, 8, 30, true},
    {17, 64, 3, 0, 0, 0, 2, true},
    {9, 4096, 300, 0, 0, 0.5F, 64, false},
    {9, 4096, 300, 0, 0, 0.5F, 40, false},
};

/* Rows longer than the shared memory of a GPU's block, and more of them than run at once. */
static const struct cross_entropy_case long_cross_entropy_cases[] = {
    {3, 60000, 60, 0, 0, 1, 30, false},
    {4, 256000, 30, 0, 0, 1, 30, true},
    {140, 57600, 20, 0, 0, 1, 30, true},
};

/* Both at once. */
static const struct cross_entropy_case large_cross_entropy_case = {70, 240000, 20, 0,
                                                                   0,  1,      30, true};

static void place_targets(const struct cross_entropy_case *one, struct op_array *targets)
{
    for (int64_t i = 0; i < one->rows; i++) {
        if (one->masked && i % 3 == 0) {
            targets->indices[i] = i % 2 ? -1 : -100;
        }
    }
    if (one->rows > 1) { /* the last class is one like the others */
        targets->indices[1] = (int32_t)one->classes - 1;
    }
    op_store(targets);
}

static void try_cross_entropy(struct op_bench *bench, const struct cross_entropy_case *one,
                              enum yk_precision type)
{
    op_bench_begin(bench,
                   "cross_entropy %s %lldx%lld gap %lld smoothing %g factor %g up to %g cap %g%s",
                   yk_precision_name(type), (long long)one->rows, (long long)one->classes,
                   (long long)one->gap, (double)one->smoothing, (double)one->factor, one->size,
                   (double)one->softcap, one->masked ? " masked" : "");
    const double before = 1.5;
    struct op_array *logits =
        op_drawn(bench, type, one->rows, one->classes, one->classes + one->gap, one->size);
    struct op_array *targets = op_indices(bench, one->rows, 0, (int32_t)one->classes);
    struct op_array *row_losses = op_poisoned(bench, FP32, 1, one->rows, one->rows);
    struct op_array *loss = op_doubles(bench, 1, &before);
    place_targets(one, targets);
    const struct yk_cross_entropy_op op = {
        .rows = one->rows,
        .classes = one->classes,
        .stride = logits->stride,
        .logits = logits->device,
        .targets = targets->device,
        .row_losses = row_losses->device,
        .loss = loss->device,
        .smoothing = one->smoothing,
        .softcap = one->softcap,
        .factor = one->factor,
        .type = type,
    };
    op_bench_upload(bench);
    bench->backend->cross_entropy(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_copy(bench, logits);
    double *expected_rows = op_room(bench, one->rows);
    double expected_loss = before;
    reference_cross_entropy(&op, targets->indices, expected, expected_rows, &expected_loss);
    if (one->factor != 0) {
        /* Of a row of one class nothing is left. */
        const double size = one->classes == 1 ? (double)one->factor : 0;
        op_expect(bench, logits, "gradient", expected, size);
    }
    op_expect(bench, row_losses, "row_losses", expected_rows, 1);
    op_expect_within(bench, loss, "loss", &expected_loss, 1, 1e-6);
    op_bench_end(bench);
}

void op_table_cross_entropy(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof cross_entropy_cases / sizeof *cross_entropy_cases; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            try_cross_entropy(bench, &cross_entropy_cases[i], op_types[j]);
        }
    }
    for (size_t i = 0; i < sizeof long_cross_entropy_cases / sizeof *long_cross_entropy_cases;
         i++) {
        try_cross_entropy(bench, &long_cross_entropy_cases[i], BF16);
    }
    if (bench->every == 0) {
        try_cross_entropy(bench, &large_cross_entropy_case, BF16);
    }
}
