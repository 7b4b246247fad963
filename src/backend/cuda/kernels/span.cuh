/*
 * Span: arrays that kernels go through once, four numbers at a time, whatever their types: fp32 is
 * moved 16 bytes and 16-bit numbers 8 bytes at a time, without a gap between threads. Arrays of one
 * op are cut alike. What lies before the first four that is aligned in all of them, and behind the
 * last, are edges: single numbers. Arrays that are never aligned together are all edges.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_SPAN_CUH
#define YK_BACKEND_CUDA_KERNELS_SPAN_CUH

#include <initializer_list>

#include "backend/cuda/kernels/numbers.cuh"

struct yk_vector_span {
    int64_t head; /* numbers before the first four */
    int64_t fours;
    int64_t edges; /* numbers before the first and behind the last four */
};

struct yk_vector_span_array {
    const void *base; /* NULL: there is no such run */
    int64_t bytes;    /* of a number */
};

static inline bool yk_vector_span_is_aligned(std::initializer_list<yk_vector_span_array> runs,
                                             int64_t head)
{
    for (const yk_vector_span_array &run : runs) {
        const uintptr_t first =
            reinterpret_cast<uintptr_t>(run.base) + static_cast<uintptr_t>(head * run.bytes);
        if (run.base && first % static_cast<uintptr_t>(4 * run.bytes) != 0) {
            return false;
        }
    }
    return true;
}

static inline yk_vector_span yk_vector_span_make(int64_t count,
                                                 std::initializer_list<yk_vector_span_array> runs)
{
    for (int64_t head = 0; head < 4 && head <= count; head++) {
        if (yk_vector_span_is_aligned(runs, head)) {
            const int64_t fours = (count - head) / 4;
            return {head, fours, count - 4 * fours};
        }
    }
    return {0, 0, count};
}

/* Blocks of `threads` that take `fours` of them each. */
static inline unsigned yk_vector_span_blocks(const yk_vector_span &span, int threads, int fours)
{
    const int64_t most = span.fours > span.edges ? span.fours : span.edges;
    return static_cast<unsigned>(yk_ceil_div(most, static_cast<int64_t>(threads) * fours));
}

/* Where edge number `edge` is. */
YK_DEVICE int64_t yk_vector_span_edge(const yk_vector_span &span, int64_t edge)
{
    return edge < span.head ? edge : edge + 4 * span.fours;
}

/* The numbers of 32 bits. */
template <typename T> struct yk_word;

template <> struct yk_word<float> {
    static constexpr int count = 1;
    YK_DEVICE void open(uint32_t word, float *x)
    {
        x[0] = __uint_as_float(word);
    }
    YK_DEVICE uint32_t close(const float *x)
    {
        return __float_as_uint(x[0]);
    }
};

template <> struct yk_word<__half> {
    static constexpr int count = 2;
    YK_DEVICE void open(uint32_t word, float *x)
    {
        const float2 pair = __half22float2(*reinterpret_cast<const __half2 *>(&word));
        x[0] = pair.x;
        x[1] = pair.y;
    }
    YK_DEVICE uint32_t close(const float *x)
    {
        const __half2 pair = __floats2half2_rn(x[0], x[1]);
        return *reinterpret_cast<const uint32_t *>(&pair);
    }
};

template <> struct yk_word<__nv_bfloat16> {
    static constexpr int count = 2;
    YK_DEVICE void open(uint32_t word, float *x)
    {
        x[0] = __uint_as_float(word << 16);
        x[1] = __uint_as_float(word & 0xffff0000U);
    }
    YK_DEVICE uint32_t close(const float *x)
    {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(x[0], x[1]);
        return *reinterpret_cast<const uint32_t *>(&pair);
    }
};

/* The 16 / sizeof(T) numbers of 16 bytes. */
template <typename T> __device__ __forceinline__ void yk_unpack_wide(const uint4 &words, float *x)
{
    yk_word<T>::open(words.x, x);
    yk_word<T>::open(words.y, x + yk_word<T>::count);
    yk_word<T>::open(words.z, x + 2 * yk_word<T>::count);
    yk_word<T>::open(words.w, x + 3 * yk_word<T>::count);
}

template <typename T> __device__ __forceinline__ uint4 yk_pack_wide(const float *x)
{
    return make_uint4(yk_word<T>::close(x), yk_word<T>::close(x + yk_word<T>::count),
                      yk_word<T>::close(x + 2 * yk_word<T>::count),
                      yk_word<T>::close(x + 3 * yk_word<T>::count));
}

/* Four numbers as they are stored. They are only taken apart where they are computed with, so that
 * loads stay under way together. */
template <typename T> struct yk_four {
    uint2 words;
};

template <> struct yk_four<float> {
    float4 words;
};

template <typename T> __device__ __forceinline__ yk_four<T> yk_load_four(const T *from)
{
    return {*reinterpret_cast<const decltype(yk_four<T>::words) *>(from)};
}

/* Begins to load fours first, first + step …, of those there are; the others stay as they are. */
template <typename T, int COUNT>
__device__ __forceinline__ void yk_load_fours(const T *run, const yk_vector_span &span,
                                              int64_t first, int64_t step, yk_four<T> (&out)[COUNT])
{
    const T *fours = run + span.head;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int64_t at = first + i * step;
        if (at < span.fours) {
            out[i] = yk_load_four(fours + 4 * at);
        }
    }
}

template <typename T> __device__ __forceinline__ float4 yk_unpack_four(const yk_four<T> &four)
{
    float x[4];
    yk_word<T>::open(four.words.x, x);
    yk_word<T>::open(four.words.y, x + 2);
    return make_float4(x[0], x[1], x[2], x[3]);
}

template <> __device__ __forceinline__ float4 yk_unpack_four<float>(const yk_four<float> &four)
{
    return four.words;
}

template <typename T> __device__ __forceinline__ void yk_store_four(T *to, const float4 &four)
{
    const float x[4] = {four.x, four.y, four.z, four.w};
    *reinterpret_cast<uint2 *>(to) = make_uint2(yk_word<T>::close(x), yk_word<T>::close(x + 2));
}

template <> __device__ __forceinline__ void yk_store_four<float>(float *to, const float4 &four)
{
    *reinterpret_cast<float4 *>(to) = four;
}

/* Of fp32 that nothing asks for again before caches have long forgotten it. */
YK_DEVICE float4 yk_load_four_once(const float *from)
{
    return __ldcs(reinterpret_cast<const float4 *>(from));
}

YK_DEVICE void yk_store_four_once(float *to, const float4 &four)
{
    __stcs(reinterpret_cast<float4 *>(to), four);
}

#endif
