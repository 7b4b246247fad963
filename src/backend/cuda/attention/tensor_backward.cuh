/*
 * Attention backward by tensor cores, in two kernels, so that no sum depends on who comes first.
 * One has dK and dV of a tile of keys and goes through the queries; the other has dQ of a tile of
 * queries and goes through the keys. Both find P and dS anew, 32 columns at a time:
 *   P = 2^(score − sum), dP = dO Vᵀ, dS = P ∘ (dP − products), dV = Pᵀ dO, dK = dSᵀ Q, dQ = dS K.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_TENSOR_BACKWARD_CUH
#define YK_BACKEND_CUDA_ATTENTION_TENSOR_BACKWARD_CUH

#include "backend/cuda/attention/tile.cuh"

/* The first of the two kernels; false where it could not be put on the lane. */
bool yk_cuda_attention_tensor_backward_keys(struct yk_backend_lane *lane,
                                            const struct yk_attention_backward_task *task);

enum {
    WARPS = YK_TENSOR_THREADS / 32,
    SUB = 32, /* columns of scores at a time */
    N = SUB / 8,
};

/* What each kernel has of its own, and what goes by it in two stages. */
template <int D> struct layout {
    static constexpr int m = D == 64 ? 2 : 1; /* · 16 rows a warp: as registers allow */
    static constexpr int warp_rows = m * 16;
    static constexpr int rows = warp_rows * WARPS;
    static constexpr int passing = D == 64 ? 64 : 32; /* rows of a stage */
    static constexpr int own_bytes = rows * D * 2;
    static constexpr int tile_bytes = passing * D * 2;
    static constexpr int stage_bytes = 2 * tile_bytes + 2 * passing * 4;
    static constexpr int bytes = 2 * own_bytes + 2 * stage_bytes;
};

template <typename T>
static __device__ __forceinline__ const T *row_of(const void *base, int64_t sample, int64_t length,
                                                  int row, int64_t stride, int64_t head, int size)
{
    return static_cast<const T *>(base) +
           yk_attention_row_offset(sample, length, row, stride, head, size);
}

template <typename T, int D, int ROWS>
static __device__ __forceinline__ void load_keys(const struct yk_attention_op &op,
                                                 const struct yk_attention_head &head, int s,
                                                 uint32_t k, uint32_t v)
{
    yk_tile_load_async<T, D, ROWS>(
        k, row_of<T>(op.k, head.sample, op.keys, s, op.k_stride, head.kv_head, D), op.k_stride,
        head.length - s);
    yk_tile_load_async<T, D, ROWS>(
        v, row_of<T>(op.v, head.sample, op.keys, s, op.v_stride, head.kv_head, D), op.v_stride,
        head.length - s);
    yk_copy_async_commit();
}

/* All of a warp's rows times `scale`, to memory. */
template <typename T, int D>
static __device__ __forceinline__ void store_rows(const float (&numbers)[layout<D>::m][D / 8][4],
                                                  float scale, unsigned char *scratch, T *to,
                                                  int64_t stride, int count)
{
    constexpr int m = layout<D>::m;
    float scales[m][2];
#pragma unroll
    for (int i = 0; i < m * 2; i++) {
        scales[i / 2][i % 2] = scale;
    }
    yk_tile_store<T, D, m>(numbers, scales, scratch, to, stride, count);
}

using backward_kernel = void (*)(struct yk_attention_backward_task);

/* A kernel with a block for every tile of `rows` of `heads` heads. */
template <int D>
static bool launch_kernel(struct yk_backend_lane *lane,
                          const struct yk_attention_backward_task *task, backward_kernel kernel,
                          int64_t heads, int64_t rows)
{
    const int bytes = layout<D>::bytes;
    const int64_t blocks = heads * yk_ceil_div(rows, layout<D>::rows);
    if (!yk_cuda_lane_check(lane,
                            cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 bytes),
                            "attention_backward")) {
        return false;
    }
    if (blocks > 0) {
        const cudaStream_t stream = yk_cuda_lane_stream(lane);
        const unsigned grid = static_cast<unsigned>(blocks);
        kernel<<<grid, YK_TENSOR_THREADS, bytes, stream>>>(*task);
    }
    return yk_cuda_lane_check(lane, cudaGetLastError(), "attention_backward");
}

#endif
