/*
 * Tile: (rows, D) tiles of 16-bit elements in shared memory, and their products on tensor cores of
 * GPUs with compute capability 8.0 and later. In this file a lane is a thread of a warp. Addresses
 * of type uint32_t are addresses in shared memory. All lanes of a warp must call a function
 * together; this does not apply to the functions yk_tile_copy_…().
 *
 * backend/cuda/kernels/mma.cuh says which elements of operands lane l of a warp has, with g = l / 4
 * and i = l % 4, and what a "matrix" is: a part of a tile.
 *
 * A row of a tile has D / 8 chunks of 16 bytes. Chunk p of row r is stored at position p ^ (r % 8),
 * so that chunks p of eight neighbouring rows are in different banks and can be read together. If D
 * is not a multiple of 64, it is an odd multiple of 32. The position is then p ^ (r / 2 % 4), and
 * odd and even rows start half of all banks apart. A warp computes M · 16 rows of a result, which
 * it holds in registers.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_TILE_CUH
#define YK_BACKEND_CUDA_ATTENTION_TILE_CUH

#include "backend/cuda/attention/attention.cuh"
#include "backend/cuda/kernels/mma.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

/* ---- instructions ---- */

/* Starts an asynchronous copy of 16 bytes. If `there` is false, writes zeros and reads nothing. */
YK_DEVICE_INLINE void yk_tile_copy_16_bytes_async(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
                 : "memory");
}

/* Like yk_tile_copy_16_bytes_async(), but copies 4 bytes. */
YK_DEVICE_INLINE void yk_tile_copy_4_bytes_async(uint32_t to, const void *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 4 : 0)
                 : "memory");
}

/* Waits for all copies of this thread. If all threads wait and then pass a barrier, the copies of
 * all threads are complete. */
YK_DEVICE_INLINE void yk_tile_copy_wait(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Returns 2^x. The result for −∞ is 0. */
YK_DEVICE_INLINE float yk_exp2(float x)
{
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

/* Returns 1 / x, with an error of 1 unit in the last place. The result for ∞ is 0. */
YK_DEVICE_INLINE float yk_reciprocal(float x)
{
    float out;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

/* ---- kinds of kernels ---- */

enum yk_tile_mode {
    /* No dropout, no window, no softcap. Heads are adjacent and have D elements. */
    YK_TILE_PLAIN,
    /* Like YK_TILE_PLAIN, but with dropout. */
    YK_TILE_DROPOUT,
    /* All options of the op are read at run time. Heads have up to D elements; tiles are padded
     * with zeros. */
    YK_TILE_ANY,
};

enum {
    /* Blocks of eight warps need up to this many bytes of shared memory; blocks of four warps need
     * less than half of it. */
    YK_TILE_LARGE_BLOCK_BYTES = 200 * 1024,
};

/* The properties of a kernel that are known at compile time. */
template <typename T, int D, int WARPS, enum yk_tile_mode MODE> struct yk_tile_kind {
    using type = T; static constexpr int d = D; static constexpr int warps = WARPS;
        static constexpr int threads = WARPS * 32;
        static constexpr int blocks = WARPS == 8 ? 1 : 2; /* at once on a multiprocessor */
        static constexpr bool any = MODE == YK_TILE_ANY;

        __device__ __forceinline__ static bool drops(const struct yk_attention_op &op){
            return MODE == YK_TILE_DROPOUT || (any && op.dropout.rate > 0);
}

__device__ __forceinline__ static bool caps(const struct yk_attention_op &op)
{
    return any && op.softcap > 0;
}

/* Number of elements of a head. */
__device__ __forceinline__ static int64_t head_size(const struct yk_attention_op &op)
{
    return any ? op.head_size : D;
}

/* Number of elements from one head to the next, of q, k, v and their gradients. */
__device__ __forceinline__ static int64_t head_stride(const struct yk_attention_op &op)
{
    return any ? op.head_stride : D;
}

/* The first key that query t may attend to. */
__device__ __forceinline__ static int first_key(const struct yk_attention_head &head, int t)
{
    return any ? yk_attention_first_visible_key(head, t) : 0;
}
}
;

/* ---- tiles ---- */

/* Returns the byte offset of a chunk of a row in a tile. */
template <int D> YK_DEVICE_INLINE uint32_t yk_tile_chunk_offset(int row, int chunk)
{
    static_assert(D % 32 == 0, "a row is a multiple of 64 bytes");
    const int mask = D % 64 == 0 ? row & 7 : row >> 1 & 3;
    return static_cast<uint32_t>(row * 2 * D + (chunk ^ mask) * 16);
}

/* Return the byte offset of the row that this lane passes to yk_load_four_matrices(), to load the
 * first 16 rows and 16 columns of a tile. With the offset of yk_tile_left_operand_lane_offset(),
 * the order of the four matrices is top left, bottom left, top right, bottom right. This offset is
 * for left operands, and for right operands that are loaded with
 * yk_load_four_matrices_transposed(). With the offset of yk_tile_right_operand_lane_offset(), the
 * order is top left, top right, bottom left, bottom right. To start at column 16k of the tile, use
 * yk_tile_move_to_column(). To start at row 8r, add 16rD. */
template <int D> YK_DEVICE_INLINE uint32_t yk_tile_left_operand_lane_offset(void)
{
    const int lane = threadIdx.x % 32;
    return yk_tile_chunk_offset<D>(lane & 15, lane >> 4);
}

template <int D> YK_DEVICE_INLINE uint32_t yk_tile_right_operand_lane_offset(void)
{
    const int lane = threadIdx.x % 32;
    return yk_tile_chunk_offset<D>((lane & 7) + (lane >> 4) * 8, (lane >> 3) & 1);
}

/* Moves a lane offset by 16k columns. */
template <int D> YK_DEVICE_INLINE uint32_t yk_tile_move_to_column(uint32_t lane, int k)
{
    return D % 64 == 0 ? lane ^ (k * 32) : (lane ^ (k % 2 * 32)) + k / 2 * 64;
}

/* Rows of a head in memory. */
template <typename T> struct yk_tile_rows {
    const T *from;
    int64_t stride;
    int count; /* rows that exist */
    int size;  /* elements of a row that exist */
};

/* Returns rows from `first` to `end` − 1 of a matrix with `length` rows per sample. */
template <typename K>
YK_DEVICE_INLINE struct yk_tile_rows<typename K::type>
yk_tile_rows_make(const struct yk_attention_op &op, const void *base, int64_t sample,
                  int64_t length, int first, int end, int64_t stride, int64_t head,
                  int64_t head_stride) {
    return {yk_attention_head_row_address<const typename K::type>(base, sample, length, first,
                                                                  stride, head, head_stride),
            stride, end - first, static_cast<int>(K::head_size(op))};
}

/* Starts the copy of ROWS rows to a tile. All threads of the block must call this function. Rows
 * and elements that do not exist are filled with zeros. */
template <typename K, int ROWS>
YK_DEVICE_INLINE void yk_tile_load_async(uint32_t to,
                                         const struct yk_tile_rows<typename K::type> &rows)
{
    constexpr int chunks = K::d / 8;
    if constexpr (K::threads % chunks == 0) {
        constexpr int step = K::threads / chunks;
        const int chunk = threadIdx.x % chunks;
        const int first_row = threadIdx.x / chunks;
        const int count = !K::any || chunk * 8 < rows.size ? rows.count : 0;
        const auto *mine = rows.from + first_row * rows.stride + chunk * 8;
#pragma unroll
        for (int i = 0; i < ROWS / step; i++) {
            const int row = first_row + i * step;
            yk_tile_copy_16_bytes_async(to + yk_tile_chunk_offset<K::d>(row, chunk),
                                        row < count ? mine : rows.from, row < count);
            mine += step * rows.stride;
        }
    } else {
        static_assert(ROWS * chunks % K::threads == 0, "all threads copy as many chunks");
#pragma unroll
        for (int i = 0; i < ROWS * chunks / K::threads; i++) {
            const int row = (i * K::threads + threadIdx.x) / chunks;
            const int chunk = (i * K::threads + threadIdx.x) % chunks;
            const bool there = row < rows.count && chunk * 8 < rows.size;
            yk_tile_copy_16_bytes_async(
                to + yk_tile_chunk_offset<K::d>(row, chunk),
                there ? rows.from + row * rows.stride + chunk * 8 : rows.from, there);
        }
    }
}

/* Two kinds of left operand. The first kind stays in registers; the second kind is loaded from
 * shared memory when it is needed. */
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

template <int D, int M> struct yk_tile_in_shared_memory {
    uint32_t rows; /* address of the first row of this warp */
    uint32_t lane; /* result of yk_tile_left_operand_lane_offset() */

    __device__ __forceinline__ void get(int k, uint32_t (&out)[M][4]) const
    {
#pragma unroll
        for (int m = 0; m < M; m++) {
            yk_load_four_matrices(rows + m * 32 * D + yk_tile_move_to_column<D>(lane, k), out[m]);
        }
    }
};

template <int D, int M>
YK_DEVICE_INLINE void yk_tile_load_to_registers(const yk_tile_in_shared_memory<D, M> &stored,
                                                yk_tile_in_registers<D, M> &held)
{
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        stored.get(k, held.numbers[k]);
    }
}

/* Starts the copy of ROWS rows of k or of v to a tile, starting at key s. */
template <typename K, int ROWS>
YK_DEVICE_INLINE void yk_tile_load_keys(const struct yk_attention_op &op,
                                        const struct yk_attention_head &head, const void *base,
                                        int64_t stride, int s, uint32_t to)
{
    yk_tile_load_async<K, ROWS>(to,
                                yk_tile_rows_make<K>(op, base, head.sample, op.keys, s, head.length,
                                                     stride, head.kv_head, K::head_stride(op)));
}

/* Starts the copy of ROWS rows of k and of v to two tiles, starting at key s. */
template <typename K, int ROWS>
YK_DEVICE_INLINE void yk_tile_load_keys_and_values(const struct yk_attention_op &op,
                                                   const struct yk_attention_head &head, int s,
                                                   uint32_t k, uint32_t v)
{
    yk_tile_load_keys<K, ROWS>(op, head, op.k, op.k_stride, s, k);
    yk_tile_load_keys<K, ROWS>(op, head, op.v, op.v_stride, s, v);
}

/* Starts the copy of ROWS rows of q to a tile, starting at query t. */
template <typename K, int ROWS>
YK_DEVICE_INLINE void yk_tile_load_queries(const struct yk_attention_op &op,
                                           const struct yk_attention_head &head, int t, uint32_t to)
{
    yk_tile_load_async<K, ROWS>(to, yk_tile_rows_make<K>(op, op.q, head.sample, op.queries, t,
                                                         static_cast<int>(op.queries), op.q_stride,
                                                         head.head, K::head_stride(op)));
}

template <int M, int N> YK_DEVICE_INLINE void yk_tile_clear_registers(float (&numbers)[M][N][4])
{
#pragma unroll
    for (int i = 0; i < M * N * 4; i++) {
        numbers[i / 4 / N][i / 4 % N][i % 4] = 0;
    }
}

/* to = left · rowsᵀ. The shape of `to` is (M · 16, N · 8), the shape of `left` is (M · 16, D), and
 * the shape of `rows` is (N · 8, D). */
template <typename T, int D, int M, int N, typename LEFT>
YK_DEVICE_INLINE void yk_tile_multiply_by_transpose(const LEFT &left, uint32_t rows,
                                                    float (&to)[M][N][4])
{
    const uint32_t lane = yk_tile_right_operand_lane_offset<D>();
    yk_tile_clear_registers(to);
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        uint32_t a[M][4];
        left.get(k, a);
#pragma unroll
        for (int n = 0; n < N / 2; n++) {
            uint32_t b[4];
            yk_load_four_matrices(rows + n * 32 * D + yk_tile_move_to_column<D>(lane, k), b);
#pragma unroll
            for (int m = 0; m < M; m++) {
                yk_mma<T>(to[m][2 * n], a[m], b[0], b[1]);
                yk_mma<T>(to[m][2 * n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

/* Converts the result of a product to the left operand of the next product. */
template <typename T, int M, int N>
YK_DEVICE_INLINE void yk_tile_pack_as_left_operand(const float (&from)[M][N][4],
                                                   uint32_t (&to)[M][N / 2][4])
{
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int n = 0; n < N; n++) {
            to[m][n / 2][n % 2 * 2] = yk_pack_two_floats<T>(from[m][n][0], from[m][n][1]);
            to[m][n / 2][n % 2 * 2 + 1] = yk_pack_two_floats<T>(from[m][n][2], from[m][n][3]);
        }
    }
}

/* to += left · rows. The shape of `to` is (M · 16, D), the shape of `left` is (M · 16, K · 16), and
 * the shape of `rows` is (K · 16, D). */
template <typename T, int D, int M, int K>
YK_DEVICE_INLINE void yk_tile_multiply_add(const uint32_t (&left)[M][K][4], uint32_t rows,
                                           float (&to)[M][D / 8][4])
{
    const uint32_t lane = yk_tile_left_operand_lane_offset<D>();
#pragma unroll
    for (int k = 0; k < K; k++) {
#pragma unroll
        for (int n = 0; n < D / 16; n++) {
            uint32_t b[4];
            yk_load_four_matrices_transposed(rows + k * 32 * D + yk_tile_move_to_column<D>(lane, n),
                                             b);
#pragma unroll
            for (int m = 0; m < M; m++) {
                yk_mma<T>(to[m][2 * n], left[m][k], b[0], b[1]);
                yk_mma<T>(to[m][2 * n + 1], left[m][k], b[2], b[3]);
            }
        }
    }
}

/* Returns a limit for row g of a result whose row 0 is query t and whose column 0 is key s. This
 * lane holds columns 8n + 2i + j of the row, with j = 0 and 1. The limit is the number of visible
 * columns minus 2i, so column 8n + 2i + j is a visible key if 8n + j is less than the limit. */
YK_DEVICE_INLINE int yk_tile_visible_column_limit(const struct yk_attention_head &head, int t,
                                                  int s)
{
    const int lane = threadIdx.x % 32;
    return yk_attention_count_visible_keys(head, t + lane / 4) - s - lane % 4 * 2;
}

/* Like yk_tile_visible_column_limit(), for the start of the window: column 8n + 2i + j is before
 * the window if 8n + j is less than the limit. */
YK_DEVICE_INLINE int yk_tile_hidden_column_limit(const struct yk_attention_head &head, int t, int s)
{
    const int lane = threadIdx.x % 32;
    return yk_attention_first_visible_key(head, t + lane / 4) - s - lane % 4 * 2;
}

/* Replaces products q · k by tanh(scale · q · k / softcap). The absolute error is about 2e-7. */
template <int M, int N> YK_DEVICE_INLINE void yk_tile_cap(float cap_scale, float (&scores)[M][N][4])
{
    const float scale = 2 * YK_LOG2_E * cap_scale;
#pragma unroll
    for (int i = 0; i < M * N * 4; i++) {
        float &x = scores[i / 4 / N][i / 4 % N][i % 4];
        x = fmaf(-2.0F, yk_reciprocal(1.0F + yk_exp2(x * scale)), 1.0F);
    }
}

/* The queries of one head that a block and a warp process. */
struct yk_tile_query_range {
    struct yk_attention_head head;
    int first;      /* first query of the block */
    int begin;      /* the queries of the block attend only to keys from this one on */
    int end;        /* the queries of the block attend only to keys below this one */
    int warp_row;   /* first row of the warp in the tile */
    int t;          /* first query of the warp */
    int warp_begin; /* the queries of the warp attend only to keys from this one on */
    int warp_end;   /* the queries of the warp attend only to keys below this one */
};

/* Returns the range of the calling warp, with ROWS queries per block and WARP_ROWS queries per
 * warp. The last queries of a head attend to the most keys, so they are computed first. */
template <typename K, int ROWS, int WARP_ROWS>
YK_DEVICE_INLINE struct yk_tile_query_range
yk_tile_query_range_make(const struct yk_attention_op &op)
{
    const unsigned heads = static_cast<unsigned>(op.batch * op.heads);
    const unsigned place = blockIdx.x % heads;
    const int queries = static_cast<int>(op.queries);
    struct yk_tile_query_range own;
    own.head = yk_attention_head_make<K::any>(op, place / op.heads, place % op.heads);
    own.first = static_cast<int>(gridDim.x / heads - 1 - blockIdx.x / heads) * ROWS;
    own.warp_row = threadIdx.x / 32 * WARP_ROWS;
    own.t = own.first + own.warp_row;
    own.end = yk_attention_count_visible_keys(own.head, min(own.first + ROWS, queries) - 1);
    own.warp_end =
        own.t < queries
            ? yk_attention_count_visible_keys(own.head, min(own.t + WARP_ROWS, queries) - 1)
            : 0;
    /* A window after the last valid key starts at this key, so that loads stay in bounds. */
    own.begin = K::any ? max(0, min(K::first_key(own.head, own.first), own.end - 1)) : 0;
    own.warp_begin = K::first_key(own.head, own.t);
    return own;
}

/* Computes the dropout factors of the four elements of c that this lane holds. Rows of c are
 * queries. `upper` is the dropout index of the lane's first element in row g, and `lower` is the
 * dropout index of its first element in row g + 8. Two neighbouring lanes need the same random
 * words. If the number of keys is a multiple of 4, the even lane computes the words of row g, the
 * odd lane computes the words of row g + 8, and the two lanes exchange words. */
YK_DEVICE_INLINE void
yk_tile_dropout_factors(const struct yk_attention_forward_kernel_arguments &task, int64_t sample,
                        uint64_t upper, uint64_t lower, float (&out)[4])
{
    const bool odd = threadIdx.x % 2;
    if (task.op.keys % 4 == 0) {
        const uint4 words =
            yk_attention_dropout_random_words(task.op, sample, (odd ? lower : upper) / 4);
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

/* Multiplies elements by their dropout factors. Row 0 is query t, and column 0 is key s. */
template <int M, int N>
YK_DEVICE_INLINE void
yk_tile_apply_dropout(const struct yk_attention_forward_kernel_arguments &task,
                      const struct yk_attention_head &head, int t, int s, float (&numbers)[M][N][4])
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

/* Like yk_tile_dropout_factors(), but rows of c are keys and columns are queries. The lane holds
 * the elements of keys s + g and s + g + 8 and of queries t + 2i and t + 2i + 1; s is a multiple
 * of 8. Four lanes need the random words of the same four keys. If the number of keys is a multiple
 * of 4, each of these lanes computes four words, and the lanes exchange words. */
YK_DEVICE_INLINE void
yk_tile_dropout_factors_transposed(const struct yk_attention_forward_kernel_arguments &task,
                                   const struct yk_attention_head &head, int t, int s,
                                   float (&out)[4])
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
    const uint4 words = yk_attention_dropout_random_words(
        task.op, head.sample, ((mine % 2 ? second : first) + mine / 2 * 8 + g / 4 * 4) / 4);
    uint32_t got[4]; /* got[d] is the word of element mine ^ d, from the lane that computed it */
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

/* Multiplies the M · 16 rows of a warp by `scales` and writes the first `count` rows to `to`,
 * `size` elements of each. The rows are first stored in `scratch`, which is shared memory of this
 * warp, so that whole chunks are written to `to`. */
template <typename K, int M>
YK_DEVICE_INLINE void yk_tile_store_scaled(const float (&numbers)[M][K::d / 8][4],
                                           const float (&scales)[M][2], unsigned char *scratch,
                                           typename K::type *to, int64_t stride, int count,
                                           int64_t size)
{
    using T = typename K::type;
    constexpr int D = K::d;
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const uint32_t place = yk_tile_chunk_offset<D>(m * 16 + r * 8 + lane / 4, n);
                *reinterpret_cast<uint32_t *>(scratch + place + lane % 4 * 4) =
                    yk_pack_two_floats<T>(numbers[m][n][2 * r] * scales[m][r],
                                          numbers[m][n][2 * r + 1] * scales[m][r]);
            }
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = lane; i < M * 16 * (D / 8); i += 32) {
        const int row = i / (D / 8);
        const int chunk = i % (D / 8);
        if (row < count && (!K::any || chunk * 8 < size)) {
            *reinterpret_cast<uint4 *>(to + row * stride + chunk * 8) =
                *reinterpret_cast<const uint4 *>(scratch + yk_tile_chunk_offset<D>(row, chunk));
        }
    }
}

/* Whether a kernel of mode YK_TILE_PLAIN or YK_TILE_DROPOUT computes the op. */
static inline bool yk_tile_is_plain(const struct yk_attention_op &op, int d)
{
    return op.head_size == d && op.head_stride == d && op.window == 0 && !(op.softcap > 0);
}

/* The functions yk_tile_dispatch…() call enqueue(kind) with the kind of kernel for the op.
 * `shared_bytes` is the shared memory that a block can request. */
template <typename T, int D, typename ENQUEUE>
static auto yk_tile_dispatch_mode(const struct yk_attention_op &op, ENQUEUE enqueue)
{
    if (!yk_tile_is_plain(op, D)) {
        return enqueue(yk_tile_kind<T, D, 4, YK_TILE_ANY>());
    }
    return op.dropout.rate > 0 ? enqueue(yk_tile_kind<T, D, 4, YK_TILE_DROPOUT>())
                               : enqueue(yk_tile_kind<T, D, 4, YK_TILE_PLAIN>());
}

template <typename T, typename ENQUEUE>
static auto yk_tile_dispatch_head_size(const struct yk_attention_op &op, size_t shared_bytes,
                                       ENQUEUE enqueue)
{
    if (op.head_size <= 64) {
        return yk_tile_dispatch_mode<T, 64>(op, enqueue);
    }
    if (op.head_size <= 96) {
        return enqueue(yk_tile_kind<T, 96, 4, YK_TILE_ANY>());
    }
    if (op.head_size <= 128) {
        return yk_tile_dispatch_mode<T, 128>(op, enqueue);
    }
    return shared_bytes >= YK_TILE_LARGE_BLOCK_BYTES
               ? enqueue(yk_tile_kind<T, 256, 8, YK_TILE_ANY>())
               : enqueue(yk_tile_kind<T, 256, 4, YK_TILE_ANY>());
}

template <typename ENQUEUE>
static auto yk_tile_dispatch(const struct yk_attention_op &op, size_t shared_bytes, ENQUEUE enqueue)
{
    return op.type == YK_PRECISION_FP16
               ? yk_tile_dispatch_head_size<__half>(op, shared_bytes, enqueue)
               : yk_tile_dispatch_head_size<__nv_bfloat16>(op, shared_bytes, enqueue);
}

/* Launches a kernel of kind K with `bytes` bytes of dynamic shared memory. Returns false if the
 * lane has failed. */
template <typename K, typename ARGUMENTS>
static bool yk_tile_launch_kernel(struct yk_backend_lane *lane, void (*kernel)(ARGUMENTS),
                                  const ARGUMENTS *arguments, int64_t blocks, int bytes,
                                  const char *action)
{
    const cudaError_t error = cudaFuncSetAttribute(
        reinterpret_cast<const void *>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (!yk_cuda_lane_check_cuda_error(lane, error, action)) {
        return false;
    }
    if (blocks > 0) {
        kernel<<<static_cast<unsigned>(blocks), K::threads, bytes, yk_cuda_lane_stream(lane)>>>(
            *arguments);
    }
    return yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), action);
}

#endif
