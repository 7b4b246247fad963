/*
 * Tile: products of small fp32 matrices, 8 × 8 numbers at a time, in registers: the inner loop of
 * attention, whose matrices are too small for a library. Both factors are stored with the index
 * that is summed over as the slow one, so that rows of 8 are read. Any thread may call these.
 */
#ifndef YK_BACKEND_CPU_ATTENTION_TILE_H
#define YK_BACKEND_CPU_ATTENTION_TILE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_CPU_TILE = 8
};

/*
 * For each tile t: c[i][j] (8, 8) = sum over l of a[l][i] · b[l][j], l from 0 to depth − 1, added
 * to what c holds where `add` says so. Tile t begins t times the step after the first.
 */
struct yk_cpu_tiles {
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
    int64_t count; /* of tiles */
    bool add;
};

void yk_cpu_tiles_multiply(const struct yk_cpu_tiles *tiles);

/* to[j][i] = from[i][j], both (8, 8). */
void yk_cpu_tile_transpose(const float *from, int64_t from_stride, float *to, int64_t to_stride);

static inline int64_t yk_cpu_tile_round_up(int64_t count)
{
    return (count + YK_CPU_TILE - 1) / YK_CPU_TILE * YK_CPU_TILE;
}

#endif
