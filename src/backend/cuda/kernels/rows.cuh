/*
 * Rows: how elementwise kernels lie over rows. A thread works on packs, of 16 bytes where addresses
 * allow it, else of one number. Threads of a block, and blocks, lie along x over the packs of a row
 * and along y over rows. A thread keeps its column and goes from row to row, so that nothing is
 * divided.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ROWS_CUH
#define YK_BACKEND_CUDA_KERNELS_ROWS_CUH

#include <type_traits>

#include "backend/cuda/kernels/numbers.cuh"

/* N numbers as they are stored: one, or words of 32 bits, which are only taken apart where they are
 * computed with, so that loads stay under way together. */
template <typename T, int N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) yk_pack {
    static_assert(N == 1 || N * sizeof(T) % 8 == 0, "one number, or 8 or 16 bytes at once");
    typename std::conditional<N == 1, T, uint32_t>::type words[N == 1 ? 1 : N * sizeof(T) / 4];
};

template <int N, typename T> __device__ __forceinline__ yk_pack<T, N> yk_load_pack(const T *from)
{
    return *reinterpret_cast<const yk_pack<T, N> *>(from);
}

template <int N, typename T>
__device__ __forceinline__ void yk_store_pack(T *to, const yk_pack<T, N> &p)
{
    *reinterpret_cast<yk_pack<T, N> *>(to) = p;
}

/* Two numbers of 16 bits and their word, the first in the low half. */
YK_DEVICE float2 yk_word_to_two(__half, uint32_t word)
{
    return __half22float2(reinterpret_cast<const __half2 &>(word));
}

YK_DEVICE float2 yk_word_to_two(__nv_bfloat16, uint32_t word)
{
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000U));
}

YK_DEVICE uint32_t yk_two_to_word(__half, float low, float high)
{
    const __half2 two = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t &>(two);
}

YK_DEVICE uint32_t yk_two_to_word(__nv_bfloat16, float low, float high)
{
    const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t &>(two);
}

template <typename T, int N>
__device__ __forceinline__ void yk_unpack(const yk_pack<T, N> &pack, float (&x)[N])
{
    if constexpr (N == 1) {
        x[0] = yk_load(pack.words[0]);
    } else if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            x[i] = __uint_as_float(pack.words[i]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            const float2 two = yk_word_to_two(T(), pack.words[i]);
            x[2 * i] = two.x;
            x[2 * i + 1] = two.y;
        }
    }
}

template <typename T, int N>
__device__ __forceinline__ yk_pack<T, N> yk_pack_from(const float (&x)[N])
{
    yk_pack<T, N> pack;
    if constexpr (N == 1) {
        pack.words[0] = yk_store<T>(x[0]);
    } else if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            pack.words[i] = __float_as_uint(x[i]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            pack.words[i] = yk_two_to_word(T(), x[2 * i], x[2 * i + 1]);
        }
    }
    return pack;
}

enum {
    YK_ROWS_THREADS = 256, /* the most of a block */
};

struct yk_rows_layout {
    dim3 grid;
    dim3 block;
};

/* `at_once` rows are a thread's work in one step. A grid's y ends at 65535: more rows take further
 * steps. */
static inline struct yk_rows_layout yk_rows_layout_make(int64_t rows, int64_t packs,
                                                        int64_t at_once)
{
    struct yk_rows_layout layout;
    int64_t across = 1;
    if (packs >= 32) { /* as few threads past the row's end as can be */
        const int64_t tiles = yk_ceil_div(packs, YK_ROWS_THREADS);
        across = yk_ceil_div(yk_ceil_div(packs, tiles), 32) * 32;
    } else {
        while (across < packs) {
            across *= 2;
        }
    }
    const int64_t down = YK_ROWS_THREADS / across;
    const int64_t groups = yk_ceil_div(rows, down * at_once);
    layout.block = dim3(static_cast<unsigned>(across), static_cast<unsigned>(down));
    layout.grid = dim3(static_cast<unsigned>(yk_ceil_div(packs, across)),
                       static_cast<unsigned>(groups < 65535 ? groups : 65535));
    return layout;
}

/* Where a thread begins, and how far it is to its next row. */
YK_DEVICE int64_t yk_rows_first_pack()
{
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

YK_DEVICE int64_t yk_rows_first_row()
{
    return static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
}

YK_DEVICE int64_t yk_rows_step()
{
    return static_cast<int64_t>(gridDim.y) * blockDim.y;
}

/* A thread loads all of its rows before it checks which exist: past the last one, that one again.
 */
YK_DEVICE int64_t yk_rows_clamp(int64_t row, int64_t rows)
{
    return row < rows ? row : rows - 1;
}

#endif
