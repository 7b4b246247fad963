/*
 * Tiles of 16-bit numbers, (rows, D), in shared memory, and products of them by tensor cores, of
 * GPUs from 8.0 on. Addresses are those of shared memory. The lanes of a warp call all but the
 * copies together.
 *
 * A matrix is 8 rows of 16 bytes. Of a product c (16, 8) += a (16, 16) · b (16, 8), lane l with
 * g = l / 4 and i = l % 4 has
 *   a: rows g, g + 8, g, g + 8; columns 2i, 2i + 1 for the first two, those + 8 for the last two;
 *   b: column g; rows 2i, 2i + 1, and those + 8;
 *   c: row g, columns 2i and 2i + 1; the same of row g + 8.
 *
 * A row of a tile is D / 8 chunks of 16 bytes; chunk p of row r lies where chunk p ^ (r % 8) would:
 * eight rows of the same chunk, as tensor cores are fed, are then in different banks. A warp has
 * M · 16 rows of the left side and of the result, in registers.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_TILE_CUH
#define YK_BACKEND_CUDA_ATTENTION_TILE_CUH

#include "backend/cuda/attention/attention.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

/* ---- instructions ---- */

/* Kernels for tensor cores are empty elsewhere, and are not called. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define YK_HAS_TENSOR_CORES 1
#else
#define YK_HAS_TENSOR_CORES 0
#endif

YK_DEVICE uint32_t yk_shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/* 16 bytes, or zeros where they are not there; nothing is read then. */
YK_DEVICE void yk_tile_copy(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
                 : "memory");
}

/* The same with 4 bytes. */
YK_DEVICE void yk_tile_copy_word(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 4 : 0)
                 : "memory");
}

YK_DEVICE void yk_tile_copy_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits for this thread's copies; others' are known to be there after a barrier. */
YK_DEVICE void yk_tile_copy_wait(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Four matrices: lanes 8n … 8n + 7 say where the rows of matrix n are, and lane l gets numbers 2i
 * and 2i + 1 of row g of each. */
YK_DEVICE void yk_load_matrices(uint32_t row, uint32_t (&out)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row)
                 : "memory");
}

/* The same, with numbers g of rows 2i and 2i + 1. */
YK_DEVICE void yk_load_matrices_transposed(uint32_t row, uint32_t (&out)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row)
                 : "memory");
}

template <typename T>
YK_DEVICE void yk_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

/* Two numbers in 32 bits, the first in the lower half. */
template <typename T> YK_DEVICE uint32_t yk_pack(float first, float second);

/* Both for numbers that instructions call `name`. */
#define YK_DEFINE_MMA(T, name)                                                                     \
    template <>                                                                                    \
    __device__ __forceinline__ void yk_mma<T>(float(&c)[4], const uint32_t(&a)[4], uint32_t b0,    \
                                              uint32_t b1)                                         \
    {                                                                                              \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name                        \
                     ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));              \
    }                                                                                              \
    template <> __device__ __forceinline__ uint32_t yk_pack<T>(float first, float second)          \
    {                                                                                              \
        uint32_t out;                                                                              \
        asm("cvt.rn." name "x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));            \
        return out;                                                                                \
    }
YK_DEFINE_MMA(__half, "f16")
YK_DEFINE_MMA(__nv_bfloat16, "bf16")
#undef YK_DEFINE_MMA

/* 2^x: 0 for −∞. */
YK_DEVICE float yk_exp2(float x)
{
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

/* ---- tiles ---- */

enum {
    YK_TENSOR_THREADS = 128, /* of a block */
};

template <int D> YK_DEVICE uint32_t yk_tile_offset(int row, int chunk)
{
    return static_cast<uint32_t>(row * 2 * D + (chunk ^ (row & 7)) * 16);
}

/* Where this lane's row of four matrices is in 16 rows and columns: for left sides and transposed
 * right sides the second matrix is below the first, for right sides at its right. Columns 16k are
 * further by ^ 32k, rows 8r by + 16rD. */
template <int D> YK_DEVICE uint32_t yk_tile_lane_left(void)
{
    const int lane = threadIdx.x % 32;
    return yk_tile_offset<D>(lane & 15, lane >> 4);
}

template <int D> YK_DEVICE uint32_t yk_tile_lane_right(void)
{
    const int lane = threadIdx.x % 32;
    return yk_tile_offset<D>((lane & 7) + (lane >> 4) * 8, (lane >> 3) & 1);
}

/* Begins to copy ROWS rows from memory, by all threads of the block; those from `count` on become
 * zero. */
template <typename T, int D, int ROWS>
YK_DEVICE void yk_tile_load_async(uint32_t to, const T *from, int64_t stride, int count)
{
    constexpr int step = YK_TENSOR_THREADS / (D / 8);
    const int chunk = threadIdx.x % (D / 8);
    const int first = threadIdx.x / (D / 8);
    const T *mine = from + first * stride + chunk * 8;
#pragma unroll
    for (int i = 0; i < ROWS / step; i++) {
        const int row = first + i * step;
        yk_tile_copy(to + yk_tile_offset<D>(row, chunk), row < count ? mine : from, row < count);
        mine += step * stride;
    }
}

/* Left sides that stay in registers, and such that are loaded when they are needed. */
template <int D, int M> struct yk_tile_in_registers {
    uint32_t numbers[D / 16][M][4];

    __device__ __forceinline__ void get(int k, uint32_t (&out)[M][4]) const
    {
#pragma unroll
        for (int i = 0; i < M * 4; i++) {
            out[i / 4][i % 4] = numbers[k][i / 4][i % 4];
        }
    }
};

template <int D, int M> struct yk_tile_in_shared {
    uint32_t rows; /* the first of this warp */
    uint32_t lane;

    __device__ __forceinline__ void get(int k, uint32_t (&out)[M][4]) const
    {
#pragma unroll
        for (int m = 0; m < M; m++) {
            yk_load_matrices(rows + m * 32 * D + (lane ^ (k * 32)), out[m]);
        }
    }
};

template <int D, int M>
YK_DEVICE void yk_tile_to_registers(const yk_tile_in_shared<D, M> &stored,
                                    yk_tile_in_registers<D, M> &held)
{
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        stored.get(k, held.numbers[k]);
    }
}

template <int M, int N> YK_DEVICE void yk_tile_clear(float (&numbers)[M][N][4])
{
#pragma unroll
    for (int i = 0; i < M * N * 4; i++) {
        numbers[i / 4 / N][i / 4 % N][i % 4] = 0;
    }
}

/* to (M · 16, N · 8) = left · rowsᵀ over the size of a head; rows (N · 8, D). */
template <typename T, int D, int M, int N, typename LEFT>
YK_DEVICE void yk_tile_scores(const LEFT &left, uint32_t rows, float (&to)[M][N][4])
{
    const uint32_t lane = yk_tile_lane_right<D>();
    yk_tile_clear(to);
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        uint32_t a[M][4];
        left.get(k, a);
#pragma unroll
        for (int n = 0; n < N / 2; n++) {
            uint32_t b[4];
            yk_load_matrices(rows + n * 32 * D + (lane ^ (k * 32)), b);
#pragma unroll
            for (int m = 0; m < M; m++) {
                yk_mma<T>(to[m][2 * n], a[m], b[0], b[1]);
                yk_mma<T>(to[m][2 * n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

/* What a product gave becomes the left side of the next. */
template <typename T, int M, int N>
YK_DEVICE void yk_tile_pack(const float (&from)[M][N][4], uint32_t (&to)[M][N / 2][4])
{
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int n = 0; n < N; n++) {
            to[m][n / 2][n % 2 * 2] = yk_pack<T>(from[m][n][0], from[m][n][1]);
            to[m][n / 2][n % 2 * 2 + 1] = yk_pack<T>(from[m][n][2], from[m][n][3]);
        }
    }
}

/* to (M · 16, D) += left (M · 16, K · 16) · rows (K · 16, D). */
template <typename T, int D, int M, int K>
YK_DEVICE void yk_tile_add(const uint32_t (&left)[M][K][4], uint32_t rows, float (&to)[M][D / 8][4])
{
    const uint32_t lane = yk_tile_lane_left<D>();
#pragma unroll
    for (int k = 0; k < K; k++) {
#pragma unroll
        for (int n = 0; n < D / 16; n++) {
            uint32_t b[4];
            yk_load_matrices_transposed(rows + k * 32 * D + (lane ^ (n * 32)), b);
#pragma unroll
            for (int m = 0; m < M; m++) {
                yk_mma<T>(to[m][2 * n], left[m][k], b[0], b[1]);
                yk_mma<T>(to[m][2 * n + 1], left[m][k], b[2], b[3]);
            }
        }
    }
}

/* Which of a lane's columns, 8n + j of keys s … of the warp's, query t of its row sees: those below
 * it. */
YK_DEVICE int yk_tile_visible_keys(const struct yk_attention_head &head, int t, int s)
{
    const int lane = threadIdx.x % 32;
    return yk_attention_visible_keys(head, t + lane / 4) - s - lane % 4 * 2;
}

/* A block's ROWS queries of a head, from `first`, of which a warp has WARP_ROWS, from t. */
struct yk_tile_queries {
    struct yk_attention_head head;
    int first;
    int end; /* of the keys that any of them sees */
    int warp_row;
    int t;
    int warp_end; /* of the keys that any of the warp's sees */
};

/* The last queries, which see most keys, begin first. */
template <int ROWS, int WARP_ROWS>
YK_DEVICE struct yk_tile_queries yk_tile_queries_of(const struct yk_attention_op &op)
{
    const unsigned heads = static_cast<unsigned>(op.batch * op.heads);
    const unsigned place = blockIdx.x % heads;
    const int queries = static_cast<int>(op.queries);
    struct yk_tile_queries own;
    own.head = yk_attention_head_of(op, place / op.heads, place % op.heads);
    own.first = static_cast<int>(gridDim.x / heads - 1 - blockIdx.x / heads) * ROWS;
    own.warp_row = threadIdx.x / 32 * WARP_ROWS;
    own.t = own.first + own.warp_row;
    own.end = yk_attention_visible_keys(own.head, min(own.first + ROWS, queries) - 1);
    own.warp_end = own.t < queries
                       ? yk_attention_visible_keys(own.head, min(own.t + WARP_ROWS, queries) - 1)
                       : 0;
    return own;
}

/* Dropout factors of this lane's four numbers of a result, rows being queries: from index `upper`
 * in row g, and `lower` in row g + 8. Two lanes share the four words of an index that is a multiple
 * of 4: the even one makes those of row g, the odd one those of row g + 8. */
YK_DEVICE void yk_tile_dropout_factors(const struct yk_attention_task &task, int64_t sample,
                                       uint64_t upper, uint64_t lower, float (&out)[4])
{
    const bool odd = threadIdx.x % 2;
    if (task.op.keys % 4 == 0) {
        const uint4 words = yk_attention_dropout_random(task.op, sample, (odd ? lower : upper) / 4);
        const uint32_t first = __shfl_xor_sync(0xffffffffU, odd ? words.x : words.z, 1);
        const uint32_t second = __shfl_xor_sync(0xffffffffU, odd ? words.y : words.w, 1);
        out[0] = yk_attention_dropout_factor(task, odd ? first : words.x);
        out[1] = yk_attention_dropout_factor(task, odd ? second : words.y);
        out[2] = yk_attention_dropout_factor(task, odd ? words.z : first);
        out[3] = yk_attention_dropout_factor(task, odd ? words.w : second);
        return;
    }
    float pair[2];
    yk_attention_dropout_factors(task, sample, upper, pair);
    out[0] = pair[0];
    out[1] = pair[1];
    yk_attention_dropout_factors(task, sample, lower, pair);
    out[2] = pair[0];
    out[3] = pair[1];
}

/* Multiplies numbers of queries t … (rows) and keys s … (columns) by what dropout says. */
template <int M, int N>
YK_DEVICE void yk_tile_dropout(const struct yk_attention_task &task,
                               const struct yk_attention_head &head, int t, int s,
                               float (&numbers)[M][N][4])
{
    const int lane = threadIdx.x % 32;
    const uint64_t step = static_cast<uint64_t>(task.op.keys) * 8;
    uint64_t place = yk_attention_dropout_index(task.op, head, t + lane / 4) + s + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int n = 0; n < N; n++) {
            float factors[4];
            yk_tile_dropout_factors(task, head.sample, place + n * 8, place + step + n * 8,
                                    factors);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                numbers[m][n][i] *= factors[i];
            }
        }
        place += 2 * step;
    }
}

/* Dropout factors of this lane's four numbers of a transposed result: keys s + g and s + g + 8 (s a
 * multiple of 8), queries t + 2i and t + 2i + 1. Four lanes share the random words of four keys:
 * each makes those of one of its numbers, and hands the others theirs. */
YK_DEVICE void yk_tile_dropout_factors_transposed(const struct yk_attention_task &task,
                                                  const struct yk_attention_head &head, int t,
                                                  int s, float (&out)[4])
{
    const int lane = threadIdx.x % 32;
    const int g = lane / 4;
    const uint64_t first = yk_attention_dropout_index(task.op, head, t + lane % 4 * 2) + s;
    const uint64_t second = first + task.op.keys;
    if (task.op.keys % 4 != 0) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float one[1];
            yk_attention_dropout_factors(task, head.sample,
                                         (i % 2 ? second : first) + i / 2 * 8 + g, one);
            out[i] = one[0];
        }
        return;
    }
    const int mine = g % 4;
    const uint4 words = yk_attention_dropout_random(
        task.op, head.sample, ((mine % 2 ? second : first) + mine / 2 * 8 + g / 4 * 4) / 4);
    uint32_t got[4]; /* number mine ^ d, from the lane that found it */
#pragma unroll
    for (int d = 0; d < 4; d++) {
        const int to = mine ^ d;
        const uint32_t low = to % 2 ? words.y : words.x;
        const uint32_t high = to % 2 ? words.w : words.z;
        got[d] = __shfl_xor_sync(0xffffffffU, to / 2 ? high : low, d * 4);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int d = mine ^ i;
        const uint32_t low = d % 2 ? got[1] : got[0];
        const uint32_t high = d % 2 ? got[3] : got[2];
        out[i] = yk_attention_dropout_factor(task, d / 2 ? high : low);
    }
}

/*
 * The first `count` of a warp's M · 16 rows, row r times scales[r / 8 of this lane's], to memory:
 * by way of shared memory that only this warp uses, so that rows are written whole.
 */
template <typename T, int D, int M>
YK_DEVICE void yk_tile_store(const float (&numbers)[M][D / 8][4], const float (&scales)[M][2],
                             unsigned char *scratch, T *to, int64_t stride, int count)
{
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const uint32_t place = yk_tile_offset<D>(m * 16 + r * 8 + lane / 4, n);
                *reinterpret_cast<uint32_t *>(scratch + place + lane % 4 * 4) = yk_pack<T>(
                    numbers[m][n][2 * r] * scales[m][r], numbers[m][n][2 * r + 1] * scales[m][r]);
            }
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = lane; i < M * 16 * (D / 8); i += 32) {
        const int row = i / (D / 8);
        const int chunk = i % (D / 8);
        if (row < count) {
            *reinterpret_cast<uint4 *>(to + row * stride + chunk * 8) =
                *reinterpret_cast<const uint4 *>(scratch + yk_tile_offset<D>(row, chunk));
        }
    }
}

/* Calls enqueue(number, size) with a number of the op's type, and the size of its heads as a type.
 */
template <typename ENQUEUE>
static auto yk_tile_with_type(const struct yk_attention_op &op, ENQUEUE enqueue)
{
    const std::integral_constant<int, 64> small;
    const std::integral_constant<int, 128> large;
    const bool is_small = op.head_size == small;
    if (op.type == YK_PRECISION_FP16) {
        return is_small ? enqueue(__half(), small) : enqueue(__half(), large);
    }
    return is_small ? enqueue(__nv_bfloat16(), small) : enqueue(__nv_bfloat16(), large);
}

#endif
