/*
 * Numbers: how kernels load, store and convert fp32, fp16 and bf16; all is computed in fp32. Wide
 * accesses are 16 bytes, yk_wide<T>::count numbers, from addresses that yk_is_wide() allows.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_NUMBERS_CUH
#define YK_BACKEND_CUDA_KERNELS_NUMBERS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include "backend/cuda/kernels.h"

#define YK_DEVICE static __device__ __forceinline__

YK_DEVICE float yk_load(float x)
{
    return x;
}

YK_DEVICE float yk_load(__half x)
{
    return __half2float(x);
}

YK_DEVICE float yk_load(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

template <typename T> __device__ __forceinline__ T yk_store(float x);

template <> __device__ __forceinline__ float yk_store<float>(float x)
{
    return x;
}

template <> __device__ __forceinline__ __half yk_store<__half>(float x)
{
    return __float2half_rn(x);
}

template <> __device__ __forceinline__ __nv_bfloat16 yk_store<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}

/* 16 bytes of numbers. */
template <typename T> struct alignas(16) yk_wide {
    static constexpr int count = 16 / (int)sizeof(T);
    T numbers[count];
};

template <typename T> __device__ __forceinline__ yk_wide<T> yk_load_wide(const T *from)
{
    return *reinterpret_cast<const yk_wide<T> *>(from);
}

template <typename T> __device__ __forceinline__ void yk_store_wide(T *to, const yk_wide<T> &wide)
{
    *reinterpret_cast<yk_wide<T> *>(to) = wide;
}

/* Whether rows of `stride` numbers from `base` on can be taken 16 bytes at a time. */
template <typename T> static inline bool yk_is_wide(const void *base, int64_t stride)
{
    return reinterpret_cast<uintptr_t>(base) % 16 == 0 &&
           stride * static_cast<int64_t>(sizeof(T)) % 16 == 0;
}

/* The sum, or the maximum, over a warp, known to all its threads. The order is fixed. */
YK_DEVICE float yk_warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, step);
    }
    return x;
}

YK_DEVICE float yk_warp_max(float x)
{
    for (int step = 16; step > 0; step /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, step));
    }
    return x;
}

/* Sums over a block of up to 1024 threads in whole warps, in double precision and a fixed order. */
YK_DEVICE double yk_warp_sum_double(double x)
{
    for (int step = 16; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, step);
    }
    return x;
}

/* All threads call it, once in a kernel; the first warp knows the sum. */
YK_DEVICE double yk_block_sum(double x)
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

/* Calls f with a number of the C type behind a precision: f(float()), f(__half()) … */
template <typename F> static inline void yk_with_type(enum yk_precision type, F f)
{
    switch (type) {
    case YK_PRECISION_FP16:
        f(__half());
        break;
    case YK_PRECISION_BF16:
        f(__nv_bfloat16());
        break;
    default: /* tf32 is stored as fp32 */
        f(float());
        break;
    }
}

static inline int64_t yk_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
