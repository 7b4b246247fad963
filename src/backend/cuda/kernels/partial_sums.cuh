/*
 * Partial sums: the second step of a sum over all rows of a matrix. In the first step, each group
 * of blocks adds up some of the rows and writes one sum per column to scratch memory. The kernel of
 * this header adds the sums of all groups in a fixed order and then adds the total to the target.
 * The sums are fp32; only the result is converted to the type of the target.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_PARTIAL_SUMS_CUH
#define YK_BACKEND_CUDA_KERNELS_PARTIAL_SUMS_CUH

#include "backend/cuda/kernels/row_registers.cuh"

enum {
    YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK = 32,
    YK_PARTIAL_SUMS_THREADS_PER_COLUMN = 32,
};

struct yk_partial_sums {
    const float *sums; /* (groups, targets, columns) */
    int64_t columns;
    int32_t groups;
    int32_t targets; /* number of targets, 1 or 2 */
    void *to[2];     /* (columns) each; NULL means: this target is not computed */
    enum yk_precision type;
};

/* Each block adds the sums of 32 columns of the target blockIdx.y. */
static __global__ void
__launch_bounds__(YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK *YK_PARTIAL_SUMS_THREADS_PER_COLUMN)
    add_partials(struct yk_partial_sums partials)
{
    __shared__ float sums[YK_PARTIAL_SUMS_THREADS_PER_COLUMN][YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK];
    const int lane = threadIdx.x % YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK;
    const int turn = threadIdx.x / YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK;
    const int64_t column =
        static_cast<int64_t>(blockIdx.x) * YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK + lane;
    void *to = blockIdx.y == 0 ? partials.to[0] : partials.to[1];
    if (!to) {
        return;
    }
    float sum = 0;
    float before = 0; /* loaded early, while the groups are added */
    if (column < partials.columns) {
        if (turn == 0) {
            before = yk_typed_load_one(partials.type, to, column);
        }
        const int64_t stride = partials.targets * partials.columns;
        const float *from = partials.sums + blockIdx.y * partials.columns + column;
#pragma unroll 8
        for (int group = turn; group < partials.groups;
             group += YK_PARTIAL_SUMS_THREADS_PER_COLUMN) {
            sum += from[group * stride];
        }
    }
    sums[turn][lane] = sum;
    __syncthreads();
    if (turn == 0 && column < partials.columns) {
        for (int i = 1; i < YK_PARTIAL_SUMS_THREADS_PER_COLUMN; i++) {
            sum += sums[i][lane];
        }
        const float total[1] = {before + sum};
        yk_typed_store(partials.type, to, column, total);
    }
}

static inline void yk_partial_sums_enqueue_final_sum(cudaStream_t stream,
                                                     const struct yk_partial_sums *partials)
{
    const dim3 grid(yk_block_count(partials->columns, YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK),
                    static_cast<unsigned>(partials->targets));
    add_partials<<<grid, YK_PARTIAL_SUMS_COLUMNS_PER_BLOCK * YK_PARTIAL_SUMS_THREADS_PER_COLUMN, 0,
                   stream>>>(*partials);
}

#endif
