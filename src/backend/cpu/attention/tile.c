#include "backend/cpu/attention/tile.h"

#include "backend/cpu/math/simd.h"

enum {
    LANES = YK_CPU_SIMD_WIDTH,
    HALVES = YK_CPU_TILE_SIZE / LANES,
};

/* 16 sums in registers; each step reads two registers of a and two of b for 16 multiply-adds. */
static inline void multiply(const float *a, int64_t a_stride, const float *b, int64_t b_stride,
                            int64_t depth, bool add, float *c, int64_t c_stride)
{
    yk_cpu_simd_vector sum[YK_CPU_TILE_SIZE][HALVES];
    for (int i = 0; i < YK_CPU_TILE_SIZE; i++) {
        for (int h = 0; h < HALVES; h++) {
            sum[i][h] = add ? yk_cpu_simd_load(c + i * c_stride + (int64_t)h * LANES)
                            : (yk_cpu_simd_vector){0};
        }
    }
    for (int64_t l = 0; l < depth; l++) {
        const yk_cpu_simd_vector a0 = yk_cpu_simd_load(a + l * a_stride);
        const yk_cpu_simd_vector a1 = yk_cpu_simd_load(a + l * a_stride + LANES);
        const yk_cpu_simd_vector b0 = yk_cpu_simd_load(b + l * b_stride);
        const yk_cpu_simd_vector b1 = yk_cpu_simd_load(b + l * b_stride + LANES);
        for (int i = 0; i < LANES; i++) {
            sum[i][0] += b0 * a0[i];
            sum[i][1] += b1 * a0[i];
            sum[i + LANES][0] += b0 * a1[i];
            sum[i + LANES][1] += b1 * a1[i];
        }
    }
    for (int i = 0; i < YK_CPU_TILE_SIZE; i++) {
        for (int h = 0; h < HALVES; h++) {
            yk_cpu_simd_store(c + i * c_stride + (int64_t)h * LANES, sum[i][h]);
        }
    }
}

void yk_cpu_tile_multiply(const struct yk_cpu_tile_multiply_arguments *tiles)
{
    for (int64_t t = 0; t < tiles->count; t++) {
        multiply(tiles->a + t * tiles->a_step, tiles->a_stride, tiles->b + t * tiles->b_step,
                 tiles->b_stride, tiles->depth, tiles->add, tiles->c + t * tiles->c_step,
                 tiles->c_stride);
    }
}

/* Four by four at a time: pairs of numbers change places, then pairs of pairs. */
static inline void transpose_quarter(const float *from, int64_t from_stride, float *to,
                                     int64_t to_stride)
{
    const yk_cpu_simd_vector r0 = yk_cpu_simd_load(from);
    const yk_cpu_simd_vector r1 = yk_cpu_simd_load(from + from_stride);
    const yk_cpu_simd_vector r2 = yk_cpu_simd_load(from + 2 * from_stride);
    const yk_cpu_simd_vector r3 = yk_cpu_simd_load(from + 3 * from_stride);
    const yk_cpu_simd_vector low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
    const yk_cpu_simd_vector high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
    const yk_cpu_simd_vector low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
    const yk_cpu_simd_vector high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    yk_cpu_simd_store(to, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
    yk_cpu_simd_store(to + to_stride, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
    yk_cpu_simd_store(to + 2 * to_stride, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
    yk_cpu_simd_store(to + 3 * to_stride, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
}

void yk_cpu_tile_transpose(const float *from, int64_t from_stride, float *to, int64_t to_stride)
{
    for (int i = 0; i < YK_CPU_TILE_SIZE; i += LANES) {
        for (int j = 0; j < YK_CPU_TILE_SIZE; j += LANES) {
            transpose_quarter(from + i * from_stride + j, from_stride, to + j * to_stride + i,
                              to_stride);
        }
    }
}
