/*
 * Row registers: device functions for kernels that hold a row in registers. A team of warps shares
 * a row. The functions compute sums over a team, copy weights to shared memory, and load and store
 * elements whose type is known only at run time.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ROW_REGISTERS_CUH
#define YK_BACKEND_CUDA_KERNELS_ROW_REGISTERS_CUH

#include "backend/cuda/kernels/elements.cuh"

template <typename T, int N>
__device__ __forceinline__ void yk_typed_store_as(void *base, int64_t at, const float (&numbers)[N])
{
    yk_vector<T, N> vector;
#pragma unroll
    for (int i = 0; i < N; i++) {
        vector.numbers[i] = yk_from_float<T>(numbers[i]);
    }
    *reinterpret_cast<yk_vector<T, N> *>(static_cast<T *>(base) + at) = vector;
}

/* Load or store N elements of an array, starting at element `at`. The address of this element must
 * be aligned for yk_vector<T, N>, where T is the type of the elements. */
template <int N>
__device__ __forceinline__ void yk_typed_load(enum yk_precision type, const void *base, int64_t at,
                                              float (&out)[N])
{
    yk_dispatch_type(type, [&](auto number) {
        const auto vector = yk_load_vector<decltype(number), N>(base, at);
#pragma unroll
        for (int i = 0; i < N; i++) {
            out[i] = yk_to_float(vector.numbers[i]);
        }
    });
}

template <int N>
__device__ __forceinline__ void yk_typed_store(enum yk_precision type, void *base, int64_t at,
                                               const float (&numbers)[N])
{
    yk_dispatch_type(type,
                     [&](auto number) { yk_typed_store_as<decltype(number)>(base, at, numbers); });
}

YK_DEVICE_INLINE float yk_typed_load_one(enum yk_precision type, const void *base, int64_t at)
{
    float number[1];
    yk_typed_load(type, base, at, number);
    return number[0];
}

/* Adds x to one element. The sum is rounded once. */
YK_DEVICE_INLINE void yk_typed_add_to_element(enum yk_precision type, void *base, int64_t at,
                                              float x)
{
    const float sum[1] = {yk_typed_load_one(type, base, at) + x};
    yk_typed_store(type, base, at, sum);
}

/* In this file a quarter is four elements. Converts one quarter of a vector to fp32: elements
 * 4 · quarter to 4 · quarter + 3. */
template <typename T>
__device__ __forceinline__ void yk_unpack_quarter(const yk_vector_16_bytes<T> &wide, int quarter,
                                                  float (&out)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[i] = yk_to_float(wide.numbers[4 * quarter + i]);
    }
}

YK_DEVICE_INLINE void yk_unpack_quarter(const float4 &from, float (&out)[4])
{
    out[0] = from.x;
    out[1] = from.y;
    out[2] = from.z;
    out[3] = from.w;
}

/*
 * Copies the weights of all columns plus `offset` to shared memory, as fp32. A row consists of
 * chunks of N elements, and a chunk consists of quarters of four elements. Quarter q of chunk c is
 * stored in to[q · chunks + c], so that threads with neighbouring chunks read neighbouring words,
 * without bank conflicts.
 */
template <int N>
__device__ __forceinline__ void yk_copy_weights_to_shared_memory(enum yk_precision type,
                                                                 const void *from, float offset,
                                                                 int width, float4 *to)
{
    yk_dispatch_type(type, [&](auto number) {
        const auto *weights = static_cast<const decltype(number) *>(from);
        const int chunks = width / N;
#pragma unroll 2
        for (int chunk = threadIdx.x; chunk < chunks; chunk += blockDim.x) {
            float numbers[N];
            yk_load_weights(weights, chunk, offset, numbers);
#pragma unroll
            for (int quarter = 0; quarter < N / 4; quarter++) {
                const float *four = numbers + 4 * quarter;
                to[quarter * chunks + chunk] = make_float4(four[0], four[1], four[2], four[3]);
            }
        }
    });
}

/*
 * A team of 1, 2, 4 or 8 warps holds one row in registers. A thread holds at most
 * YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD chunks. A block has YK_WARP_TEAM_BLOCK_THREADS threads and one
 * or more teams.
 */
enum {
    YK_WARP_TEAM_BLOCK_THREADS = 256,
    YK_WARP_TEAM_MAX_WARPS =
        YK_WARP_TEAM_BLOCK_THREADS / 32, /* number of warps of the largest team */
    YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD = 4,
    YK_WARP_TEAM_MAX_CHUNKS =
        YK_WARP_TEAM_BLOCK_THREADS *
        YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD, /* number of chunks of the longest row */
};

/* Returns the number of warps of a team for a row of `chunks` chunks, if a thread holds at most
 * `held` chunks. */
static inline int yk_warp_team_warp_count(int64_t chunks, int held)
{
    int warps = 1;
    while (warps * 32 * held < chunks) {
        warps *= 2;
    }
    return warps;
}

/* Adds up `sums` over all threads of a team. All threads of the team get the totals. Every thread
 * of the block must call this function. `shared` is shared memory with N elements for each warp of
 * the block. The next call must use different shared memory, because this function has no barrier
 * after its last read. */
template <int N>
__device__ __forceinline__ void yk_warp_team_reduce_sums(float (&sums)[N], int team_warps,
                                                         float (*shared)[N])
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
            shared[warp][i] = sums[i];
        }
    }
    __syncthreads();
    const int first = warp / team_warps * team_warps;
#pragma unroll
    for (int i = 0; i < N; i++) {
        sums[i] = yk_warp_sum(lane < team_warps ? shared[first + lane][i] : 0.0F);
    }
}

#endif
