/*
 * Row registers: how teams of threads hold rows in registers, and numbers of a type known at run
 * time only. A block's threads all see the same type, so that branches on it do not diverge.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ROW_REGISTERS_CUH
#define YK_BACKEND_CUDA_KERNELS_ROW_REGISTERS_CUH

#include "backend/cuda/kernels/numbers.cuh"

/* N numbers that are loaded and stored together: 16 bytes at once at most. */
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) yk_vector {
    T numbers[N];
};

template <typename T, int N>
__device__ __forceinline__ yk_vector<T, N> yk_load_vector(const void *base, int64_t at)
{
    return *reinterpret_cast<const yk_vector<T, N> *>(static_cast<const T *>(base) + at);
}

template <typename T, int N>
__device__ __forceinline__ void yk_typed_load_as(const void *base, int64_t at, float (&out)[N])
{
    const yk_vector<T, N> bunch = yk_load_vector<T, N>(base, at);
#pragma unroll
    for (int i = 0; i < N; i++) {
        out[i] = yk_load(bunch.numbers[i]);
    }
}

template <typename T, int N>
__device__ __forceinline__ void yk_typed_store_as(void *base, int64_t at, const float (&numbers)[N])
{
    yk_vector<T, N> bunch;
#pragma unroll
    for (int i = 0; i < N; i++) {
        bunch.numbers[i] = yk_store<T>(numbers[i]);
    }
    *reinterpret_cast<yk_vector<T, N> *>(static_cast<T *>(base) + at) = bunch;
}

/* Numbers [at, at + N) of an array; it and `at` must be aligned for a bunch where N > 1. */
template <int N>
__device__ __forceinline__ void yk_typed_load(enum yk_precision type, const void *base, int64_t at,
                                              float (&out)[N])
{
    switch (type) {
    case YK_PRECISION_FP16:
        yk_typed_load_as<__half>(base, at, out);
        break;
    case YK_PRECISION_BF16:
        yk_typed_load_as<__nv_bfloat16>(base, at, out);
        break;
    default:
        yk_typed_load_as<float>(base, at, out);
        break;
    }
}

template <int N>
__device__ __forceinline__ void yk_typed_store(enum yk_precision type, void *base, int64_t at,
                                               const float (&numbers)[N])
{
    switch (type) {
    case YK_PRECISION_FP16:
        yk_typed_store_as<__half>(base, at, numbers);
        break;
    case YK_PRECISION_BF16:
        yk_typed_store_as<__nv_bfloat16>(base, at, numbers);
        break;
    default:
        yk_typed_store_as<float>(base, at, numbers);
        break;
    }
}

YK_DEVICE float yk_typed_load_one(enum yk_precision type, const void *base, int64_t at)
{
    float number[1];
    yk_typed_load(type, base, at, number);
    return number[0];
}

/* Adds to one number, with one rounding. */
YK_DEVICE void yk_typed_add(enum yk_precision type, void *base, int64_t at, float x)
{
    const float sum[1] = {yk_typed_load_one(type, base, at) + x};
    yk_typed_store(type, base, at, sum);
}

/* Four numbers of a wide one: those from 4 · quarter on. */
template <typename T>
__device__ __forceinline__ void yk_unpack_quarter(const yk_wide<T> &wide, int quarter,
                                                  float (&out)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[i] = yk_load(wide.numbers[4 * quarter + i]);
    }
}

YK_DEVICE void yk_unpack_quarter(const float4 &from, float (&out)[4])
{
    out[0] = from.x;
    out[1] = from.y;
    out[2] = from.z;
    out[3] = from.w;
}

/*
 * Weights of a row's numbers in shared memory, in fp32. A row is held in chunks of N numbers;
 * quarter q of chunk c lies at float4 q · chunks + c, so that threads with neighbouring chunks read
 * neighbouring words and no two the same bank.
 */
template <typename W, int N>
__device__ __forceinline__ void yk_stage_weights_as(const void *from, int width, float4 *to)
{
    float *numbers = reinterpret_cast<float *>(to);
    const int chunks = width / N;
#pragma unroll 4
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        numbers[(i % N / 4 * chunks + i / N) * 4 + i % 4] =
            yk_load(static_cast<const W *>(from)[i]);
    }
}

template <int N>
__device__ __forceinline__ void yk_stage_weights(enum yk_precision type, const void *from,
                                                 int width, float4 *to)
{
    switch (type) {
    case YK_PRECISION_FP16:
        yk_stage_weights_as<__half, N>(from, width, to);
        break;
    case YK_PRECISION_BF16:
        yk_stage_weights_as<__nv_bfloat16, N>(from, width, to);
        break;
    default:
        yk_stage_weights_as<float, N>(from, width, to);
        break;
    }
}

/*
 * How a block of YK_TEAM_THREADS shares out rows that are held in registers: each row to a team of
 * 1, 2, 4 or 8 warps whose threads hold at most YK_THREAD_CHUNKS chunks each.
 */
enum {
    YK_TEAM_THREADS = 256,
    YK_TEAM_WARPS = YK_TEAM_THREADS / 32, /* the largest team */
    YK_THREAD_CHUNKS = 4,
    YK_TEAM_CHUNKS = YK_TEAM_THREADS * YK_THREAD_CHUNKS, /* the longest row's */
};

static inline int yk_team_warps(int64_t chunks, int held)
{
    int warps = 1;
    while (warps * 32 * held < chunks) {
        warps *= 2;
    }
    return warps;
}

/* Sums over a team's warps, known to all its threads; every thread of the block must call. `room`,
 * (warps of the block, N), must differ the next time: nobody waits for those who still read. */
template <int N>
__device__ __forceinline__ void yk_team_sums(float (&sums)[N], int team_warps, float (*room)[N])
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < N; i++) {
        sums[i] = yk_warp_sum(sums[i]);
    }
    if (team_warps == 1) {
        return;
    }
    if (lane == 0) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            room[warp][i] = sums[i];
        }
    }
    __syncthreads();
    const int first = warp / team_warps * team_warps;
#pragma unroll
    for (int i = 0; i < N; i++) {
        sums[i] = yk_warp_sum(lane < team_warps ? room[first + lane][i] : 0.0F);
    }
}

#endif
