/*
 * Tile: products of small fp32 matrices, computed in registers as tiles of 8 × 8 elements. This is
 * the inner loop of attention, whose matrices are too small for a BLAS library. Both operands are
 * stored with the summation index as the row index, so that the loop reads rows of 8 elements. Any
 * thread may call these functions.
 */
#ifndef YK_BACKEND_CPU_ATTENTION_TILE_H
#define YK_BACKEND_CPU_ATTENTION_TILE_H

#include "base/number.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_CPU_TILE_SIZE = 8
};

/*
 * Arguments of yk_cpu_tile_multiply(), which computes `count` products of tiles. A product is
 *   c[i][j] = Σ a[l][i] · b[l][j]   over l from 0 to depth − 1, for i and j from 0 to 7
 * A stride is the distance from one row of a tile to the next. A step is the distance from the tile
 * of one product to the tile of the next product. Strides and steps are in elements.
 */
struct yk_cpu_tile_multiply_arguments {
    const float *a;
    const float *b;
    float *c;
    int64_t a_stride;
    int64_t b_stride;
    int64_t c_stride;
    int64_t a_step;
    int64_t b_step;
    int64_t c_step;
    int64_t depth;
    int64_t count; /* number of products */
    bool add;      /* add the products to c instead of overwriting c */
};

void yk_cpu_tile_multiply(const struct yk_cpu_tile_multiply_arguments *tiles);

/* Transposes a tile of 8 × 8 elements: to[j][i] = from[i][j]. */
void yk_cpu_tile_transpose(const float *from, int64_t from_stride, float *to, int64_t to_stride);

/* Rounds up to a multiple of YK_CPU_TILE_SIZE. */
static inline int64_t yk_cpu_tile_round_up(int64_t count)
{
    return yk_number_round_up(count, YK_CPU_TILE_SIZE);
}

#endif
