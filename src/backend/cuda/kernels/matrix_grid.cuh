/*
 * Matrix grid: the grid of elementwise kernels on matrices. A thread works on packs. A pack is 16
 * bytes if the addresses are aligned, otherwise one element. The x axis of the grid covers the
 * packs of a row, and the y axis covers the rows. A thread steps from row to row and works on the
 * pack with the same index in each row, so it needs no division to find its row.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_MATRIX_GRID_CUH
#define YK_BACKEND_CUDA_KERNELS_MATRIX_GRID_CUH

#include "backend/cuda/kernels/elements.cuh"

enum {
    YK_ROWS_GRID_MAX_BLOCK_THREADS = 256, /* maximum number of threads per block */
};

struct yk_matrix_grid {
    dim3 grid;
    dim3 block;
};

/* Makes a grid in which each thread processes `at_once` rows per step. The y axis of a grid is
 * limited to 65535 blocks. If this is not enough for all rows, threads take several steps. */
static inline struct yk_matrix_grid yk_matrix_grid_make(int64_t rows, int64_t packs,
                                                        int64_t at_once)
{
    struct yk_matrix_grid grid;
    int64_t across = 1;
    if (packs >= 32) {
        /* Divides a row into blocks of about equal width, so that few threads are beyond its end.
         */
        const int64_t tiles = yk_number_ceil_div(packs, YK_ROWS_GRID_MAX_BLOCK_THREADS);
        across = yk_number_round_up(yk_number_ceil_div(packs, tiles), 32);
    } else {
        while (across < packs) {
            across *= 2;
        }
    }
    const int64_t down = YK_ROWS_GRID_MAX_BLOCK_THREADS / across;
    const int64_t groups = yk_number_ceil_div(rows, down * at_once);
    grid.block = dim3(static_cast<unsigned>(across), static_cast<unsigned>(down));
    grid.grid =
        dim3(yk_block_count(packs, across), static_cast<unsigned>(groups < 65535 ? groups : 65535));
    return grid;
}

/* These three functions return the index of the calling thread's pack in a row, the first row of
 * the thread, and the distance between two successive rows of the thread. */
YK_DEVICE_INLINE int64_t yk_matrix_grid_first_pack()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

YK_DEVICE_INLINE int64_t yk_matrix_grid_first_row()
{
    return static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
}

YK_DEVICE_INLINE int64_t yk_matrix_grid_row_step()
{
    return static_cast<int64_t>(gridDim.y) * blockDim.y;
}

/* Returns `row`, or the last row if `row` does not exist. A thread loads all rows of a step before
 * it checks which of them exist, so it may load the last row again. */
YK_DEVICE_INLINE int64_t yk_matrix_grid_clamp_row(int64_t row, int64_t rows)
{
    return row < rows ? row : rows - 1;
}

#endif
