#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <stddef.h>

/* ---- patches ---- */

struct patchify_case {
    int64_t batch;
    int64_t channels;
    int64_t height;
    int64_t width;
    int64_t patch_height;
    int64_t patch_width;
};

/* Of some, pixels are left over at the right and below; some have lines of 8 aligned pixels, of
 * which GPUs take several at a time. */
static const struct patchify_case patchify_cases[] = {
    {1, 1, 1, 1, 1, 1},     {3, 1, 8, 8, 2, 2},       {2, 3, 32, 32, 16, 16},
    {5, 3, 48, 64, 16, 8},  {2, 4, 17, 23, 5, 7},     {3, 3, 16, 40, 16, 16},
    {2, 2, 9, 36, 4, 16},   {1, 3, 64, 48, 32, 24},   {0, 3, 32, 32, 16, 16},
    {2, 3, 28, 28, 14, 14}, {1, 1, 8, 9000, 8, 4500},
};

static void try_patchify(struct op_bench *bench, const struct patchify_case *one,
                         enum yk_precision type)
{
    static const float scales[YK_PATCHIFY_MAX_CHANNELS] = {0.0078431F, 0.017F, 0.0175F, 1};
    static const float shifts[YK_PATCHIFY_MAX_CHANNELS] = {-1, -2.1F, -1.8F, 0.25F};
    const size_t bytes = (size_t)(one->batch * one->channels * one->height * one->width);
    const int64_t rows =
        one->batch * (1 + one->height / one->patch_height * (one->width / one->patch_width));
    const int64_t columns = one->channels * one->patch_height * one->patch_width;
    op_bench_begin(bench, "patchify %lldx%lldx%lldx%lld by %lldx%lld %s", (long long)one->batch,
                   (long long)one->channels, (long long)one->height, (long long)one->width,
                   (long long)one->patch_height, (long long)one->patch_width,
                   yk_precision_name(type));
    uint8_t *drawn = (uint8_t *)op_room(bench, (int64_t)bytes / 8 + 1);
    for (size_t i = 0; i < bytes; i++) {
        drawn[i] = (uint8_t)yk_random_below(&bench->random, 256);
    }
    struct op_array *pixels = op_bytes(bench, bytes, drawn);
    struct op_array *out = op_poisoned(bench, type, rows, columns, columns);
    struct yk_patchify_op op = {
        .batch = one->batch,
        .channels = one->channels,
        .height = one->height,
        .width = one->width,
        .patch_height = one->patch_height,
        .patch_width = one->patch_width,
        .pixels = pixels->device,
        .out = out->device,
        .type = type,
    };
    for (int c = 0; c < YK_PATCHIFY_MAX_CHANNELS; c++) {
        op.scale[c] = scales[c];
        op.shift[c] = shifts[c];
    }
    op_bench_upload(bench);
    bench->backend->patchify(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, rows * columns);
    reference_patchify(&op, drawn, expected);
    op_expect(bench, out, "out", expected, 0);
    op_bench_end(bench);
}

void op_table_patchify(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof patchify_cases / sizeof *patchify_cases; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            try_patchify(bench, &patchify_cases[i], op_types[j]);
        }
    }
}

/* ---- tokens ---- */

struct tokens_case {
    int64_t samples;
    int64_t sequence;
    int64_t width;
    int64_t apart; /* elements before the arrays, so that they are not aligned */
};

static const struct tokens_case tokens_cases[] = {
    {1, 1, 1, 0},  {3, 5, 17, 0},   {4, 17, 64, 0}, {2, 197, 768, 0},
    {2, 5, 64, 1}, {1, 2, 5000, 0}, {0, 5, 16, 0},
};

static void try_tokens(struct op_bench *bench, const struct tokens_case *one,
                       enum yk_precision weight_type, enum yk_precision out_type)
{
    const int64_t rows = one->samples * one->sequence;
    const int64_t width = one->width;
    op_bench_begin(bench, "patch_tokens %lldx%lldx%lld apart %lld weights %s out %s",
                   (long long)one->samples, (long long)one->sequence, (long long)width,
                   (long long)one->apart, yk_precision_name(weight_type),
                   yk_precision_name(out_type));
    /* All three in one array, as the parameters of a layer are. */
    const int64_t count = one->apart + (one->sequence + 2) * width;
    struct op_array *weights = op_drawn(bench, weight_type, 1, count, count, 1);
    struct op_array *out = op_poisoned(bench, out_type, rows, width, width);
    const int64_t class_at = one->apart;
    const int64_t positions_at = class_at + width;
    const int64_t bias_at = positions_at + one->sequence * width;
    const struct yk_patch_tokens_op op = {
        .rows = rows,
        .width = width,
        .sequence = one->sequence,
        .class_token = op_at(weights, class_at),
        .positions = op_at(weights, positions_at),
        .bias = op_at(weights, bias_at),
        .out = out->device,
        .weight_type = weight_type,
        .out_type = out_type,
    };
    op_bench_upload(bench);
    bench->backend->patch_tokens(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, rows * width);
    reference_patch_tokens(&op, weights->values + class_at, weights->values + positions_at,
                           weights->values + bias_at, expected);
    op_expect(bench, out, "out", expected, 1);
    op_bench_end(bench);
}

void op_table_patch_tokens(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof tokens_cases / sizeof *tokens_cases; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            try_tokens(bench, &tokens_cases[i], op_types[j], op_types[j]);
            try_tokens(bench, &tokens_cases[i], FP32, op_types[j]);
        }
    }
}

/* ---- accuracy ---- */

struct accuracy_case {
    int64_t rows;
    int64_t classes;
    int64_t gap;
    double size; /* small: in 16 bits, many logits are equal */
    bool masked;
};

static const struct accuracy_case accuracy_cases[] = {
    {1, 1, 0, 1, false},     {40, 3, 5, 1, true},    {300, 10, 6, 1, false}, {300, 10, 6, 1, true},
    {64, 1000, 0, 1, false}, {9, 5000, 8, 1, false}, {0, 10, 6, 1, false},
};

/* Lets half of the targets be good: the best class, or one of the next few. */
static void place_targets(const struct accuracy_case *one, struct op_bench *bench,
                          const struct op_array *logits, struct op_array *targets)
{
    for (int64_t row = 0; row < one->rows; row++) {
        const double *values = logits->values + row * one->classes;
        int64_t best = 0;
        for (int64_t i = 1; i < one->classes; i++) {
            best = values[i] > values[best] ? i : best;
        }
        if (row % 4 == 1) {
            targets->indices[row] = (int32_t)best;
        } else if (row % 4 == 2) { /* the best of some, which is among the best of all */
            const int64_t some = 1 + (int64_t)yk_random_below(&bench->random, one->classes);
            best = 0;
            for (int64_t i = 1; i < some; i++) {
                best = values[i] > values[best] ? i : best;
            }
            targets->indices[row] = (int32_t)best;
        } else if (one->masked && row % 4 == 3) {
            targets->indices[row] = row % 8 == 3 ? -1 : -100;
        }
    }
    op_store(targets);
}

static void try_accuracy(struct op_bench *bench, const struct accuracy_case *one,
                         enum yk_precision type)
{
    const double before[2] = {3, 7};
    op_bench_begin(bench, "accuracy %s %lldx%lld gap %lld%s", yk_precision_name(type),
                   (long long)one->rows, (long long)one->classes, (long long)one->gap,
                   one->masked ? " masked" : "");
    struct op_array *logits =
        op_drawn(bench, type, one->rows, one->classes, one->classes + one->gap, one->size);
    struct op_array *targets = op_indices(bench, one->rows, 0, (int32_t)one->classes);
    struct op_array *hits = op_doubles(bench, 2, before);
    place_targets(one, bench, logits, targets);
    const struct yk_accuracy_op op = {
        .rows = one->rows,
        .classes = one->classes,
        .stride = logits->stride,
        .logits = logits->device,
        .targets = targets->device,
        .hits = hits->device,
        .type = type,
    };
    op_bench_upload(bench);
    bench->backend->accuracy(bench->lane, &op);
    op_bench_run(bench);
    double expected[2] = {before[0], before[1]};
    reference_accuracy(&op, targets->indices, logits->values, expected);
    op_expect_exactly(bench, hits, "hits", expected);
    op_bench_end(bench);
}

void op_table_accuracy(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof accuracy_cases / sizeof *accuracy_cases; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            try_accuracy(bench, &accuracy_cases[i], op_types[j]);
        }
    }
}
