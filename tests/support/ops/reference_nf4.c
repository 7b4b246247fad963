#include "support/ops/reference.h"

#include <math.h>
#include <stdlib.h>

double reference_nf4_value(int code)
{
    static const double values[16] = {
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    };
    return values[code];
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

void reference_nf4_scale_values(double out[256])
{
    int count = 0;
    for (int i = 0; i < 7; i++) {
        const int parts = 1 << i;
        for (int part = 0; part < parts; part++) {
            const double middle = 0.1 + 0.9 * (part + 0.5) / parts;
            out[count++] = middle * pow(10, i - 6);
            out[count++] = -middle * pow(10, i - 6);
        }
    }
    out[count++] = 0;
    out[count++] = 1;
    qsort(out, (size_t)count, sizeof *out, compare);
}

static int64_t blocks_of(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* The largest |from[i] − middle| of block `block`. */
static double largest_in(const double *from, int64_t count, int64_t block, int64_t size,
                         double middle)
{
    double largest = 0;
    for (int64_t i = block * size; i < count && i < (block + 1) * size; i++) {
        largest = fmax(largest, fabs(from[i] - middle));
    }
    return largest;
}

static uint8_t nearest(double value, const double *values, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++) { /* of two that are as near, the lower one */
        if (fabs(value - values[i]) < fabs(value - values[best])) {
            best = i;
        }
    }
    return (uint8_t)best;
}

void reference_quantise(int64_t count, const double *from, const struct reference_nf4 *to)
{
    double values[16];
    double scale_values[256];
    for (int i = 0; i < 16; i++) {
        values[i] = reference_nf4_value(i);
    }
    reference_nf4_scale_values(scale_values);
    const int64_t blocks = blocks_of(count, YK_NF4_BLOCK_SIZE);
    double *scales = calloc((size_t)blocks + 1, sizeof *scales);
    if (!scales) {
        abort();
    }
    *to->mean = 0;
    for (int64_t block = 0; block < blocks; block++) {
        scales[block] = largest_in(from, count, block, YK_NF4_BLOCK_SIZE, 0);
        *to->mean += scales[block] / (double)blocks;
    }
    for (int64_t i = 0; i < blocks_of(count, 2); i++) {
        to->codes[i] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const double scale = scales[i / YK_NF4_BLOCK_SIZE];
        const unsigned code = nearest(scale > 0 ? from[i] / scale : 0, values, 16);
        to->codes[i / 2] |= (uint8_t)(i % 2 == 0 ? code << 4 : code);
    }
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t group = block / YK_NF4_SCALE_BLOCK_SIZE;
        const double scale = largest_in(scales, blocks, group, YK_NF4_SCALE_BLOCK_SIZE, *to->mean);
        to->scale_scales[group] = scale;
        to->scales[block] =
            nearest(scale > 0 ? (scales[block] - *to->mean) / scale : 0, scale_values, 256);
    }
    free(scales);
}

void reference_dequantise(int64_t count, const struct reference_nf4 *from, double *to)
{
    double scale_values[256];
    reference_nf4_scale_values(scale_values);
    for (int64_t i = 0; i < count; i++) {
        const int64_t block = i / YK_NF4_BLOCK_SIZE;
        const double scale = scale_values[from->scales[block]] *
                                 from->scale_scales[block / YK_NF4_SCALE_BLOCK_SIZE] +
                             *from->mean;
        const int code = i % 2 == 0 ? from->codes[i / 2] >> 4 : from->codes[i / 2] & 15;
        to[i] = reference_nf4_value(code) * scale;
    }
}
