/*
 * Aligned groups: how elementwise kernels divide the arrays of an op into groups of four elements.
 * A group is 16 bytes of fp32 or 8 bytes of a 16-bit type, and neighbouring threads access
 * neighbouring groups. The groups start at the first index that is aligned in all arrays of the op.
 * The elements before the first group and after the last group are the edges, which are accessed
 * one by one. If the arrays are never aligned at the same index, all elements are edges.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_ALIGNED_GROUPS_CUH
#define YK_BACKEND_CUDA_KERNELS_ALIGNED_GROUPS_CUH

#include <initializer_list>

#include "backend/cuda/kernels/elements.cuh"

struct yk_aligned_groups {
    int64_t head;  /* number of elements before the first group */
    int64_t fours; /* number of groups */
    int64_t edges; /* number of elements before the first group and after the last group */
};

struct yk_aligned_groups_array {
    const void *base; /* NULL means: the op does not have this array */
    int64_t bytes;    /* size of an element in bytes */
};

static inline bool
yk_aligned_groups_may_start_at(std::initializer_list<yk_aligned_groups_array> runs, int64_t head)
{
    for (const yk_aligned_groups_array &run : runs) {
        const uintptr_t first =
            reinterpret_cast<uintptr_t>(run.base) + static_cast<uintptr_t>(head * run.bytes);
        if (run.base && first % static_cast<uintptr_t>(4 * run.bytes) != 0) {
            return false;
        }
    }
    return true;
}

static inline yk_aligned_groups
yk_aligned_groups_make(int64_t count, std::initializer_list<yk_aligned_groups_array> runs)
{
    for (int64_t head = 0; head < 4 && head <= count; head++) {
        if (yk_aligned_groups_may_start_at(runs, head)) {
            const int64_t fours = (count - head) / 4;
            return {head, fours, count - 4 * fours};
        }
    }
    return {0, 0, count};
}

/* Returns the number of blocks for a kernel in which each thread processes `fours` groups. */
static inline unsigned yk_aligned_groups_block_count(const yk_aligned_groups &span, int threads,
                                                     int fours)
{
    const int64_t most = span.fours > span.edges ? span.fours : span.edges;
    return yk_block_count(most, static_cast<int64_t>(threads) * fours);
}

/* Returns the array index of edge element `edge`. Edge elements are numbered from 0. */
YK_DEVICE_INLINE int64_t yk_aligned_groups_edge_index(const yk_aligned_groups &span, int64_t edge)
{
    return edge < span.head ? edge : edge + 4 * span.fours;
}

/* Four elements as they are stored. */
template <typename T> using yk_packed_four = yk_packed_vector<T, 4>;

/* Loads COUNT groups: group `first` to out[0], group `first` + `step` to out[1] … If a group does
 * not exist, its element of `out` is not written. */
template <typename T, int COUNT>
__device__ __forceinline__ void yk_aligned_groups_load(const T *run, const yk_aligned_groups &span,
                                                       int64_t first, int64_t step,
                                                       yk_packed_four<T> (&out)[COUNT])
{
    const T *fours = run + span.head;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const int64_t at = first + i * step;
        if (at < span.fours) {
            out[i] = yk_load_packed_vector<4>(fours + 4 * at);
        }
    }
}

template <typename T>
__device__ __forceinline__ float4 yk_unpack_to_float4(const yk_packed_four<T> &four)
{
    float x[4];
    yk_unpack_floats(four, x);
    return make_float4(x[0], x[1], x[2], x[3]);
}

template <typename T> __device__ __forceinline__ void yk_store_float4(T *to, const float4 &four)
{
    const float x[4] = {four.x, four.y, four.z, four.w};
    yk_store_packed_vector<4>(to, yk_pack_floats<T>(x));
}

/* Load or store with a streaming cache hint, for fp32 data that is not used again soon. */
YK_DEVICE_INLINE float4 yk_load_float4_streaming(const float *from)
{
    return __ldcs(reinterpret_cast<const float4 *>(from));
}

YK_DEVICE_INLINE void yk_store_float4_streaming(float *to, const float4 &four)
{
    __stcs(reinterpret_cast<float4 *>(to), four);
}

#endif
