/*
 * Elements: how kernels load, store and convert elements of fp32, fp16 and bf16. Kernels compute in
 * fp32. To use the full memory bandwidth, a thread loads and stores up to 16 bytes at a time:
 *   yk_vector<T, N>         N elements of type T
 *   yk_vector_16_bytes<T>   16 bytes of elements; see yk_are_rows_16_byte_aligned()
 *   yk_packed_vector<T, N>  N elements as 32-bit words
 * Packed vectors are converted only where they are used, so that the compiler can keep several
 * loads in flight.
 *
 * This header also has sums over a warp and a block, and dispatch by type.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ELEMENTS_CUH
#define YK_BACKEND_CUDA_KERNELS_ELEMENTS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

#include "backend/cuda/kernels.h"
#include "base/number.h"

#define YK_DEVICE_INLINE static __device__ __forceinline__

/* Begins a parameter of a kernel that is large and whose parts are chosen at run time: where GPUs
 * can, they are read where they are. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define YK_GRID_CONSTANT __grid_constant__
#else
#define YK_GRID_CONSTANT
#endif

/* Convert a stored element to fp32, and fp32 to a stored element. */
YK_DEVICE_INLINE float yk_to_float(float x)
{
    return x;
}

YK_DEVICE_INLINE float yk_to_float(__half x)
{
    return __half2float(x);
}

YK_DEVICE_INLINE float yk_to_float(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

template <typename T> __device__ __forceinline__ T yk_from_float(float x);

template <> __device__ __forceinline__ float yk_from_float<float>(float x)
{
    return x;
}

template <> __device__ __forceinline__ __half yk_from_float<__half>(float x)
{
    return __float2half_rn(x);
}

template <> __device__ __forceinline__ __nv_bfloat16 yk_from_float<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}

template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) yk_vector {
    static constexpr int count = N;
    T numbers[N];
};

template <typename T, int N>
__device__ __forceinline__ yk_vector<T, N> yk_load_vector(const void *base, int64_t at)
{
    return *reinterpret_cast<const yk_vector<T, N> *>(static_cast<const T *>(base) + at);
}

template <typename T> using yk_vector_16_bytes = yk_vector<T, 16 / (int)sizeof(T)>;

template <typename T>
__device__ __forceinline__ void yk_store_16_bytes(T *to, const yk_vector_16_bytes<T> &wide)
{
    *reinterpret_cast<yk_vector_16_bytes<T> *>(to) = wide;
}

/* Returns whether the address of every row of a matrix is a multiple of 16 bytes. */
template <typename T>
static inline bool yk_are_rows_16_byte_aligned(const void *base, int64_t stride)
{
    return reinterpret_cast<uintptr_t>(base) % 16 == 0 &&
           stride * static_cast<int64_t>(sizeof(T)) % 16 == 0;
}

/* Converts between a 32-bit word and the `count` elements in the word. */
template <typename T> struct yk_word_converter;

template <> struct yk_word_converter<float> {
    static constexpr int count = 1;
    YK_DEVICE_INLINE void unpack(uint32_t word, float *x)
    {
        x[0] = __uint_as_float(word);
    }
    YK_DEVICE_INLINE uint32_t pack(const float *x)
    {
        return __float_as_uint(x[0]);
    }
};

template <> struct yk_word_converter<__half> {
    static constexpr int count = 2;
    YK_DEVICE_INLINE void unpack(uint32_t word, float *x)
    {
        const float2 pair = __half22float2(*reinterpret_cast<const __half2 *>(&word));
        x[0] = pair.x;
        x[1] = pair.y;
    }
    YK_DEVICE_INLINE uint32_t pack(const float *x)
    {
        const __half2 pair = __floats2half2_rn(x[0], x[1]);
        return *reinterpret_cast<const uint32_t *>(&pair);
    }
};

template <> struct yk_word_converter<__nv_bfloat16> {
    static constexpr int count = 2;
    YK_DEVICE_INLINE void unpack(uint32_t word, float *x)
    {
        x[0] = __uint_as_float(word << 16);
        x[1] = __uint_as_float(word & 0xffff0000U);
    }
    YK_DEVICE_INLINE uint32_t pack(const float *x)
    {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(x[0], x[1]);
        return *reinterpret_cast<const uint32_t *>(&pair);
    }
};

/* Convert between 16 bytes and the 16 / sizeof(T) elements in these bytes. */
template <typename T>
__device__ __forceinline__ void yk_unpack_16_bytes_to_floats(const uint4 &words, float *x)
{
    yk_word_converter<T>::unpack(words.x, x);
    yk_word_converter<T>::unpack(words.y, x + yk_word_converter<T>::count);
    yk_word_converter<T>::unpack(words.z, x + 2 * yk_word_converter<T>::count);
    yk_word_converter<T>::unpack(words.w, x + 3 * yk_word_converter<T>::count);
}

template <typename T> __device__ __forceinline__ uint4 yk_pack_floats_to_16_bytes(const float *x)
{
    return make_uint4(yk_word_converter<T>::pack(x),
                      yk_word_converter<T>::pack(x + yk_word_converter<T>::count),
                      yk_word_converter<T>::pack(x + 2 * yk_word_converter<T>::count),
                      yk_word_converter<T>::pack(x + 3 * yk_word_converter<T>::count));
}

/* N must be 1, or the size of N elements must be a multiple of 8 bytes. */
template <typename T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) yk_packed_vector {
    static_assert(N == 1 || N * sizeof(T) % 8 == 0, "one element, or 8 or 16 bytes at once");
    typename std::conditional<N == 1, T, uint32_t>::type words[N == 1 ? 1 : N * sizeof(T) / 4];
};

template <int N, typename T>
__device__ __forceinline__ yk_packed_vector<T, N> yk_load_packed_vector(const T *from)
{
    return *reinterpret_cast<const yk_packed_vector<T, N> *>(from);
}

template <int N, typename T>
__device__ __forceinline__ void yk_store_packed_vector(T *to, const yk_packed_vector<T, N> &p)
{
    *reinterpret_cast<yk_packed_vector<T, N> *>(to) = p;
}

template <typename T, int N>
__device__ __forceinline__ void yk_unpack_floats(const yk_packed_vector<T, N> &pack, float (&x)[N])
{
    if constexpr (N == 1) {
        x[0] = yk_to_float(pack.words[0]);
    } else {
#pragma unroll
        for (int i = 0; i < N / yk_word_converter<T>::count; i++) {
            yk_word_converter<T>::unpack(pack.words[i], x + i * yk_word_converter<T>::count);
        }
    }
}

template <typename T, int N>
__device__ __forceinline__ yk_packed_vector<T, N> yk_pack_floats(const float (&x)[N])
{
    yk_packed_vector<T, N> pack;
    if constexpr (N == 1) {
        pack.words[0] = yk_from_float<T>(x[0]);
    } else {
#pragma unroll
        for (int i = 0; i < N / yk_word_converter<T>::count; i++) {
            pack.words[i] = yk_word_converter<T>::pack(x + i * yk_word_converter<T>::count);
        }
    }
    return pack;
}

/* Loads chunk number `chunk` of N weights, plus `offset`: several at once if they begin at a
 * multiple of 16 bytes, else one by one. */
template <int N, typename T>
__device__ __forceinline__ void yk_load_weights(const T *weights, int chunk, float offset,
                                                float (&out)[N])
{
    constexpr int at_once = N < yk_vector_16_bytes<T>::count ? N : yk_vector_16_bytes<T>::count;
    const T *from = weights + chunk * N;
    if (reinterpret_cast<uintptr_t>(weights) % 16 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += at_once) {
            const yk_vector<T, at_once> several = yk_load_vector<T, at_once>(from, i);
#pragma unroll
            for (int j = 0; j < at_once; j++) {
                out[i + j] = yk_to_float(several.numbers[j]) + offset;
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) {
            out[i] = yk_to_float(from[i]) + offset;
        }
    }
}

/* Return the sum or the maximum over a warp, computed in a fixed order. All threads of the warp get
 * the result. */
template <typename T> YK_DEVICE_INLINE T yk_warp_sum(T x)
{
    for (int step = 16; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, step);
    }
    return x;
}

YK_DEVICE_INLINE float yk_warp_max(float x)
{
    for (int step = 16; step > 0; step /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, step));
    }
    return x;
}

/* Returns the sum over a block of up to 1024 threads, computed in a fixed order. All threads of the
 * block must call this function, and only once in a kernel. Only the first warp gets the sum; the
 * other warps get 0. */
YK_DEVICE_INLINE double yk_block_sum(double x)
{
    __shared__ double parts[32];
    const unsigned lane = threadIdx.x % 32;
    const unsigned warps = blockDim.x / 32;
    x = yk_warp_sum(x);
    if (lane == 0) {
        parts[threadIdx.x / 32] = x;
    }
    __syncthreads();
    return threadIdx.x < 32 ? yk_warp_sum(lane < warps ? parts[lane] : 0.0) : 0.0;
}

/* Calls f(float()), f(__half()) or f(__nv_bfloat16()): the argument has the type in which elements
 * of this precision are stored. On the device, all threads of a block must pass the same `type`, so
 * that branches do not diverge. */
#pragma nv_exec_check_disable /* f is a function of the host or of the device */
template <typename F>
static __host__ __device__ __forceinline__ void yk_dispatch_type(enum yk_precision type, F f)
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

/* Allows a kernel to use up to `bytes` bytes of dynamic shared memory, and asks CUDA to prefer
 * shared memory to L1 cache. */
static inline cudaError_t yk_allow_dynamic_shared_memory(const void *kernel, int64_t bytes)
{
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes));
    YK_CUDA_CALL_UNLESS_FAILED(
        error, cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
    return error;
}

/* Returns the number of blocks for `work` items, if each block processes `block_work` items. */
static inline unsigned yk_block_count(int64_t work, int64_t block_work)
{
    return static_cast<unsigned>(yk_number_ceil_div(work, block_work));
}

#endif
