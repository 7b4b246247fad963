/*
 * Block sum: one number of each thread of a block, up to 1024 of them in whole warps, added up in
 * double precision and an order that never changes.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_BLOCK_SUM_CUH
#define YK_BACKEND_CUDA_KERNELS_BLOCK_SUM_CUH

static __device__ __forceinline__ double yk_warp_sum_double(double x)
{
    for (int step = 16; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, step);
    }
    return x;
}

/* All threads call it, once in a kernel; the first warp knows the sum. */
static __device__ __forceinline__ double yk_block_sum(double x)
{
    __shared__ double parts[32];
    const unsigned lane = threadIdx.x % 32;
    const unsigned warps = blockDim.x / 32;
    x = yk_warp_sum_double(x);
    if (lane == 0) {
        parts[threadIdx.x / 32] = x;
    }
    __syncthreads();
    return threadIdx.x < 32 ? yk_warp_sum_double(lane < warps ? parts[lane] : 0.0) : 0.0;
}

#endif
