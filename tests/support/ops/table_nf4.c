#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>

/* A short last block, an odd count, more than one block of scales. */
static const int64_t counts[] = {1, 3, 64, 65, 130, 640, 257 * 64 + 17, 0};

enum fill_kind {
    SPREAD,  /* blocks of very different sizes */
    HOLES,   /* the same, every third block all zeros */
    NOTHING, /* all zeros */
    EQUAL,   /* all blocks have the same scale */
};

static const char *const fill_names[] = {"", " with blocks of zeros", " of zeros",
                                         " of equal scales"};

static struct op_array *fill(struct op_bench *bench, int64_t count, enum yk_precision type,
                             enum fill_kind fill_kind)
{
    struct op_array *array = op_drawn(bench, type, 1, count, count, 1);
    for (int64_t i = 0; i < count; i++) {
        const int64_t block = i / YK_NF4_BLOCK_SIZE;
        if (fill_kind == NOTHING || (fill_kind == HOLES && block % 3 == 1)) {
            array->values[i] = 0;
        } else if (fill_kind == EQUAL) {
            array->values[i] = i % YK_NF4_BLOCK_SIZE == 0 ? -0.5 : array->values[i] / 2;
        } else {
            array->values[i] *= 0.01 * (double)(1 + block * 37 % 101);
        }
    }
    op_store(array);
    return array;
}

/* The four parts of a tensor in NF4, on the device. */
struct parts {
    struct op_array *codes;
    struct op_array *scales;
    struct op_array *scale_scales;
    struct op_array *mean;
    int64_t blocks;
    int64_t groups; /* of blocks, for their scales */
};

static int64_t blocks_of(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static struct yk_nf4_tensor pointers(const struct parts *parts)
{
    return (struct yk_nf4_tensor){
        .codes = parts->codes->device,
        .scales = parts->scales->device,
        .scale_scales = parts->scale_scales->device,
        .mean = parts->mean->device,
    };
}

static int code_at(const uint8_t *codes, int64_t at)
{
    return at % 2 == 0 ? codes[at / 2] >> 4 : codes[at / 2] & 15;
}

/* Codes must be of a value that is as near as any, but for rounding in fp32. */
static void check_codes(struct op_bench *bench, const struct parts *parts,
                        const struct op_array *from, const double *scales)
{
    for (int64_t i = 0; i < from->columns; i++) {
        const double scale = scales[i / YK_NF4_BLOCK_SIZE];
        const double value = scale > 0 ? from->values[i] / scale : 0;
        const int code = code_at(parts->codes->back, i);
        double nearest = 2;
        for (int j = 0; j < 16; j++) {
            nearest = fmin(nearest, fabs(value - reference_nf4_value(j)));
        }
        if (!(fabs(value - reference_nf4_value(code)) <= nearest + 1e-6)) {
            op_complain(bench, "number %lld, %.9g of scale %.9g, has code %d", (long long)i,
                        from->values[i], scale, code);
            return;
        }
    }
}

static void check_scales(struct op_bench *bench, const struct parts *parts, const double *scales)
{
    double values[256];
    reference_nf4_scale_values(values);
    const double mean = parts->mean->results[0];
    for (int64_t i = 0; i < parts->blocks; i++) {
        const double size = parts->scale_scales->results[i / YK_NF4_SCALE_BLOCK_SIZE];
        const double got = values[parts->scales->back[i]] * size + mean;
        double nearest = INFINITY;
        for (int j = 0; j < 256; j++) {
            nearest = fmin(nearest, fabs(values[j] * size + mean - scales[i]));
        }
        if (!(fabs(got - scales[i]) <= nearest + 1e-6 * (size + mean))) {
            op_complain(bench, "block %lld: scale %.9g has code %d, which is %.9g", (long long)i,
                        scales[i], (int)parts->scales->back[i], got);
            return;
        }
    }
}

static void expect_parts(struct op_bench *bench, struct parts *parts, const struct op_array *from)
{
    double *scales = op_room(bench, parts->blocks);
    double *largest = op_room(bench, parts->groups);
    double mean = 0;
    for (int64_t i = 0; i < from->columns; i++) {
        scales[i / YK_NF4_BLOCK_SIZE] = fmax(scales[i / YK_NF4_BLOCK_SIZE], fabs(from->values[i]));
    }
    for (int64_t i = 0; i < parts->blocks; i++) {
        mean += scales[i] / (double)parts->blocks;
    }
    for (int64_t i = 0; i < parts->blocks; i++) {
        double *group = &largest[i / YK_NF4_SCALE_BLOCK_SIZE];
        *group = fmax(*group, fabs(scales[i] - mean));
    }
    if (from->columns > 0) { /* of nothing there is no mean */
        op_expect_within(bench, parts->mean, "mean", &mean, 0, 1e-6);
    }
    op_expect_within(bench, parts->scale_scales, "scale_scales", largest, mean, 1e-6);
    op_expect_anything(parts->codes);
    op_expect_anything(parts->scales);
    check_codes(bench, parts, from, scales);
    check_scales(bench, parts, scales);
}

static void try_quantise(struct op_bench *bench, int64_t count, enum yk_precision type,
                         enum fill_kind fill_kind)
{
    op_bench_begin(bench, "quantise %s %lld%s", yk_precision_name(type), (long long)count,
                   fill_names[fill_kind]);
    struct op_array *from = fill(bench, count, type, fill_kind);
    struct parts parts = {
        .blocks = blocks_of(count, YK_NF4_BLOCK_SIZE),
        .groups = blocks_of(blocks_of(count, YK_NF4_BLOCK_SIZE), YK_NF4_SCALE_BLOCK_SIZE),
    };
    parts.codes = op_bytes(bench, (size_t)blocks_of(count, 2), NULL);
    parts.scales = op_bytes(bench, (size_t)parts.blocks, NULL);
    parts.scale_scales = op_poisoned(bench, FP32, 1, parts.groups, parts.groups);
    parts.mean = op_poisoned(bench, FP32, 1, 1, 1);
    const struct yk_quantise_op op = {count, from->device, pointers(&parts), type};
    op_bench_upload(bench);
    bench->backend->quantise(bench->lane, &op);
    op_bench_run(bench);
    if (count == 0) {
        op_expect_anything(parts.mean);
    }
    expect_parts(bench, &parts, from);
    op_bench_end(bench);
}

void op_table_quantise(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            for (int fill_kind = SPREAD; fill_kind <= EQUAL; fill_kind++) {
                try_quantise(bench, counts[i], op_types[j], (enum fill_kind)fill_kind);
            }
        }
    }
}

static void try_dequantise(struct op_bench *bench, int64_t count, enum yk_precision type,
                           enum fill_kind fill_kind)
{
    op_bench_begin(bench, "dequantise %s %lld%s", yk_precision_name(type), (long long)count,
                   fill_names[fill_kind]);
    const int64_t blocks = blocks_of(count, YK_NF4_BLOCK_SIZE);
    const int64_t groups = blocks_of(blocks, YK_NF4_SCALE_BLOCK_SIZE);
    const struct op_array *original = fill(bench, count, FP32, fill_kind);
    const struct reference_nf4 made = {
        .codes = (uint8_t *)op_room(bench, count),
        .scales = (uint8_t *)op_room(bench, blocks),
        .scale_scales = op_room(bench, groups),
        .mean = op_room(bench, 1),
    };
    reference_quantise(count, original->values, &made);
    for (int64_t i = 0; i < blocks; i++) { /* every code there is */
        made.scales[i] = fill_kind == SPREAD ? (uint8_t)(i * 7) : made.scales[i];
    }
    const struct parts parts = {
        .codes = op_bytes(bench, (size_t)blocks_of(count, 2), made.codes),
        .scales = op_bytes(bench, (size_t)blocks, made.scales),
        .scale_scales = op_given(bench, FP32, 1, groups, groups, made.scale_scales),
        .mean = op_given(bench, FP32, 1, 1, 1, made.mean),
    };
    struct op_array *to = op_poisoned(bench, type, 1, count, count);
    const struct yk_dequantise_op op = {count, pointers(&parts), to->device, type,
                                        YK_DEQUANTISE_IN_ORDER};
    op_bench_upload(bench);
    bench->backend->dequantise(bench->lane, &op);
    op_bench_run(bench);
    double *expected = op_room(bench, count);
    const struct reference_nf4 stored = {made.codes, made.scales, parts.scale_scales->values,
                                         parts.mean->values};
    reference_dequantise(count, &stored, expected);
    op_expect(bench, to, "to", expected, 0);
    op_bench_end(bench);
}

void op_table_dequantise(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int j = 0; j < OP_TYPES; j++) {
            for (int fill_kind = SPREAD; fill_kind <= EQUAL; fill_kind++) {
                try_dequantise(bench, counts[i], op_types[j], (enum fill_kind)fill_kind);
            }
        }
    }
}
