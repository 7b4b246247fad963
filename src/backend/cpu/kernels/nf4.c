#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/math/reduce.h"
#include "backend/cpu/parallel.h"
#include "backend/nf4_codebook.h"

#include <math.h>

static const float values_of_codes[YK_NF4_VALUE_COUNT] = {YK_NF4_VALUE_CODEBOOK};
static const float bounds[YK_NF4_VALUE_COUNT - 1] = {YK_NF4_VALUE_MIDPOINTS};
static const float scale_values[YK_NF4_SCALE_VALUE_COUNT] = {YK_NF4_SCALE_CODEBOOK};

/* Blocks whose scales are stored together make a group. */
enum {
    GROUP = YK_NF4_BLOCK_SIZE * YK_NF4_SCALE_BLOCK_SIZE, /* numbers */
    PARTS = 256, /* the most sums of scales that are kept until they are added up: 2 KiB */
    ZERO = 7,    /* the code of 0 */
};

struct quantising {
    const struct yk_quantise_op *op;
    int64_t part_groups;
    double *sums; /* by part: of the blocks' scales */
};

/* What numbers are multiplied by to lie within ±1; 0 where all are, or next to it. */
static float inverse(float scale)
{
    const float whole = 1.0F / (scale > 0.0F ? scale : 1.0F);
    return scale > 0.0F && isfinite(whole) ? whole : 0.0F;
}

static void code_block(const float *x, int64_t count, float scale, uint8_t *codes)
{
    const float unit = inverse(scale);
    int32_t numbers[YK_NF4_BLOCK_SIZE];
    for (int64_t i = 0; i < count; i++) {
        const float scaled = x[i] * unit;
        int32_t number = 0;
        for (int bound = 0; bound < YK_NF4_VALUE_COUNT - 1; bound++) {
            number += scaled > bounds[bound] ? 1 : 0;
        }
        numbers[i] = number;
    }
    if (count % 2 != 0) {
        numbers[count] = ZERO;
    }
    for (int64_t i = 0; i < count; i += 2) {
        codes[i / 2] = (uint8_t)(numbers[i] << 4 | numbers[i + 1]);
    }
}

/* The scales of a group's blocks; returns how many there are. */
static int64_t group_scales(const struct yk_quantise_op *op, int64_t group, float *scales)
{
    const int64_t start = group * GROUP;
    const int64_t end = yk_number_min(op->count, start + GROUP);
    int64_t blocks = 0;
    for (int64_t first = start; first < end; first += YK_NF4_BLOCK_SIZE) {
        const int64_t count = yk_number_min(YK_NF4_BLOCK_SIZE, end - first);
        float scratch[YK_NF4_BLOCK_SIZE];
        scales[blocks] = yk_cpu_reduce_abs_max(
            yk_cpu_fp32_buffer_for_reading(op->type, op->from, first, count, scratch), count);
        blocks++;
    }
    return blocks;
}

static void sum_part(const void *work, int64_t part)
{
    const struct quantising *quantising = work;
    const int64_t groups = yk_number_ceil_div(quantising->op->count, GROUP);
    const int64_t end = yk_number_min(groups, (part + 1) * quantising->part_groups);
    double sum = 0;
    for (int64_t group = part * quantising->part_groups; group < end; group++) {
        float scales[YK_NF4_SCALE_BLOCK_SIZE];
        const int64_t blocks = group_scales(quantising->op, group, scales);
        for (int64_t block = 0; block < blocks; block++) {
            sum += (double)scales[block];
        }
    }
    quantising->sums[part] = sum;
}

static void quantise_group(const void *work, int64_t group)
{
    const struct quantising *quantising = work;
    const struct yk_quantise_op *op = quantising->op;
    const float mean = *op->to.mean;
    float scales[YK_NF4_SCALE_BLOCK_SIZE];
    const int64_t blocks = group_scales(op, group, scales);
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = group * GROUP + block * YK_NF4_BLOCK_SIZE;
        const int64_t count = yk_number_min(YK_NF4_BLOCK_SIZE, op->count - first);
        float scratch[YK_NF4_BLOCK_SIZE];
        const float *x = yk_cpu_fp32_buffer_for_reading(op->type, op->from, first, count, scratch);
        code_block(x, count, scales[block], op->to.codes + first / 2);
        scales[block] -= mean;
    }
    const float largest = yk_cpu_reduce_abs_max(scales, blocks);
    const float unit = inverse(largest);
    op->to.scale_scales[group] = largest;
    for (int64_t block = 0; block < blocks; block++) {
        op->to.scales[group * YK_NF4_SCALE_BLOCK_SIZE + block] =
            yk_nf4_find_nearest_scale_code(scale_values, scales[block] * unit);
    }
}

void yk_cpu_nf4_quantise(int threads, const void *op)
{
    const struct yk_quantise_op *quantise = op;
    const int64_t groups = yk_number_ceil_div(quantise->count, GROUP);
    const int64_t blocks = yk_number_ceil_div(quantise->count, YK_NF4_BLOCK_SIZE);
    double sums[PARTS];
    const struct quantising work = {
        .op = quantise,
        .part_groups = groups > PARTS ? yk_number_ceil_div(groups, PARTS) : 1,
        .sums = sums,
    };
    const int64_t parts = yk_number_ceil_div(groups, work.part_groups);
    yk_cpu_parallel_for(threads, parts, sum_part, &work);
    double total = 0;
    for (int64_t part = 0; part < parts; part++) {
        total += sums[part];
    }
    *quantise->to.mean = blocks > 0 ? (float)(total / (double)blocks) : 0.0F;
    yk_cpu_parallel_for(threads, groups, quantise_group, &work);
}

/* Looks up each code, in numbers of either width. */
#define DEFINE_DECODE(name, number)                                                                \
    static void name(const uint8_t *codes, const number values[], int64_t count, number to[])      \
    {                                                                                              \
        for (int64_t i = 0; i + 1 < count; i += 2) {                                               \
            to[i] = values[codes[i / 2] >> 4];                                                     \
            to[i + 1] = values[codes[i / 2] & 15];                                                 \
        }                                                                                          \
        if (count % 2 != 0) {                                                                      \
            to[count - 1] = values[codes[count / 2] >> 4];                                         \
        }                                                                                          \
    }
DEFINE_DECODE(decode_full, float)
DEFINE_DECODE(decode_half, uint16_t)

/* A block's 16 values are scaled, and rounded where they are to be, before they are looked up. */
static void dequantise_group(const void *work, int64_t group)
{
    const struct yk_dequantise_op *op = work;
    const struct yk_nf4_tensor *from = &op->from;
    const int64_t end = yk_number_min(op->count, (group + 1) * GROUP);
    for (int64_t first = group * GROUP; first < end; first += YK_NF4_BLOCK_SIZE) {
        const int64_t count = yk_number_min(YK_NF4_BLOCK_SIZE, end - first);
        const float scale =
            scale_values[from->scales[first / YK_NF4_BLOCK_SIZE]] * from->scale_scales[group] +
            *from->mean;
        float values[YK_NF4_VALUE_COUNT];
        for (int i = 0; i < YK_NF4_VALUE_COUNT; i++) {
            values[i] = values_of_codes[i] * scale;
        }
        if (yk_cpu_fp32_needs_conversion(op->type)) {
            uint16_t halves[YK_NF4_VALUE_COUNT];
            yk_cpu_convert_array_from_fp32(op->type, values, YK_NF4_VALUE_COUNT, halves, 0);
            decode_half(from->codes + first / 2, halves, count, (uint16_t *)op->to + first);
        } else {
            decode_full(from->codes + first / 2, values, count, (float *)op->to + first);
        }
    }
}

void yk_cpu_nf4_dequantise(int threads, const void *op)
{
    const struct yk_dequantise_op *dequantise = op;
    yk_cpu_parallel_for(threads, yk_number_ceil_div(dequantise->count, GROUP), dequantise_group,
                        op);
}
