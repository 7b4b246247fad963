/*
 * Attention backward by tensor cores, in two kernels, so that no sum depends on who comes first.
 * One has dK and dV of a tile of keys and goes through the queries; the other has dQ of a tile of
 * queries and goes through the keys. Both find P and dS anew, 32 columns at a time:
 *   P = 2^(score − sum), dP = dO Vᵀ, dS = P ∘ (dP − products), dV = Pᵀ dO, dK = dSᵀ Q, dQ = dS K.
 * The first works with all of them turned, rows being keys, so that P and dS are left sides as they
 * come out of the product before.
 */
#include "backend/cuda/attend_tile.cuh"

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
    return static_cast<const T *>(base) + yk_attend_row(sample, length, row, stride, head, size);
}

/* A stage of queries t …: rows of q and of d_out, then sums and products. */
template <typename T, int D>
static __device__ __forceinline__ void bring_queries(const struct yk_attend_back_task &task,
                                                     const struct yk_attend_head &head, int t,
                                                     uint32_t to)
{
    constexpr int passing = layout<D>::passing;
    constexpr int tile_bytes = layout<D>::tile_bytes;
    const struct yk_attend &op = task.forward.op;
    const int left = static_cast<int>(op.queries) - t;
    yk_tile_bring<T, D, passing>(
        to, row_of<T>(op.q, head.sample, op.queries, t, op.q_stride, head.head, D), op.q_stride,
        left);
    yk_tile_bring<T, D, passing>(
        to + tile_bytes,
        row_of<T>(task.d_out, head.sample, op.queries, t, op.out_stride, head.head, D),
        op.out_stride, left);
    const int at = threadIdx.x % passing;
    const float *from = threadIdx.x < passing ? op.sums : task.products;
    if (threadIdx.x < 2 * passing) {
        from += (head.sample * op.heads + head.head) * op.queries + t;
        yk_copy_word_ahead(to + 2 * tile_bytes + threadIdx.x * 4, from + (at < left ? at : 0),
                           at < left);
    }
    yk_copies_end();
}

template <typename T, int D, int ROWS>
static __device__ __forceinline__ void bring_keys(const struct yk_attend &op,
                                                  const struct yk_attend_head &head, int s,
                                                  uint32_t k, uint32_t v)
{
    yk_tile_bring<T, D, ROWS>(
        k, row_of<T>(op.k, head.sample, op.keys, s, op.k_stride, head.kv_head, D), op.k_stride,
        head.length - s);
    yk_tile_bring<T, D, ROWS>(
        v, row_of<T>(op.v, head.sample, op.keys, s, op.v_stride, head.kv_head, D), op.v_stride,
        head.length - s);
    yk_copies_end();
}

/*
 * What dropout multiplies this lane's four numbers of a turned result by: keys s + g and s + g + 8
 * (s a multiple of 8), queries t + 2i and t + 2i + 1. Four lanes share the words of four keys: each
 * finds those of one of its numbers, and hands the others theirs.
 */
static __device__ __forceinline__ void find_factors_turned(const struct yk_attend_task &task,
                                                           const struct yk_attend_head &head, int t,
                                                           int s, float (&out)[4])
{
    const int lane = threadIdx.x % 32;
    const int g = lane / 4;
    const uint64_t first = yk_attend_place(task.op, head, t + lane % 4 * 2) + s;
    const uint64_t second = first + task.op.keys;
    if (task.op.keys % 4 != 0) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float one[1];
            yk_attend_factors(task, head.sample, (i % 2 ? second : first) + i / 2 * 8 + g, one);
            out[i] = one[0];
        }
        return;
    }
    const int mine = g % 4;
    const uint4 words = yk_attend_words(
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
        out[i] = yk_attend_keep(task, d / 2 ? high : low);
    }
}

/*
 * From scores and dP of keys s … (rows) and queries t … (columns): P, with what dropout does to it,
 * and dS. `sums` and `products` are those of query t.
 */
template <bool DROP, int M>
static __device__ __forceinline__ void
differentiate_turned(const struct yk_attend_task &task, const struct yk_attend_head &head, int s,
                     int t, bool whole, const float *sums, const float *products,
                     float (&scores)[M][N][4], float (&d_scores)[M][N][4])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < N; n++) {
        const int column = n * 8 + lane % 4 * 2;
        const float2 sum = *reinterpret_cast<const float2 *>(sums + column);
        const float2 product = *reinterpret_cast<const float2 *>(products + column);
        const float base[2] = {sum.x * YK_LOG2_E, sum.y * YK_LOG2_E};
        const float mean[2] = {product.x, product.y};
#pragma unroll
        for (int m = 0; m < M; m++) {
            float factors[4] = {1.0F, 1.0F, 1.0F, 1.0F};
            if (DROP) {
                find_factors_turned(task, head, t + n * 8, s + m * 16, factors);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int j = i % 2;
                const int key = s + m * 16 + i / 2 * 8 + lane / 4;
                float power = yk_power(fmaf(scores[m][n][i], task.power_scale, -base[j]));
                if (!whole && key >= yk_attend_seen(head, t + column + j)) {
                    power = 0;
                }
                d_scores[m][n][i] = power * (d_scores[m][n][i] * factors[i] - mean[j]);
                scores[m][n][i] = power * factors[i];
            }
        }
    }
}

template <typename T, int D, bool DROP>
static __global__ void __launch_bounds__(YK_TENSOR_THREADS, 2)
    find_d_keys(const struct yk_attend_back_task task)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    extern __shared__ __align__(128) unsigned char shared[];
    const struct yk_attend &op = task.forward.op;
    const unsigned kv_heads = static_cast<unsigned>(op.batch * op.kv_heads);
    const unsigned place = blockIdx.x % kv_heads;
    const int group = static_cast<int>(op.heads / op.kv_heads);
    const int queries = static_cast<int>(op.queries);
    const int keys = static_cast<int>(op.keys);
    const int warp = threadIdx.x / 32;
    /* The first keys, which most queries see, begin first. */
    const int first = static_cast<int>(blockIdx.x / kv_heads) * L::rows;
    const int s = first + warp * L::warp_rows;
    struct yk_attend_head head =
        yk_attend_head_of(op, place / op.kv_heads, place % op.kv_heads * group);
    const int first_query = max(first - head.shift, 0) / L::passing * L::passing;
    const int tiles = first < head.length && first_query < queries
                          ? (queries - first_query + L::passing - 1) / L::passing
                          : 0;
    const uint32_t base = yk_shared_address(shared);
    const uint32_t lane_left = yk_tile_lane_left<D>();
    const uint32_t warp_place = warp * L::warp_rows * D * 2;
    const yk_tile_stored<D, L::m> k = {base + warp_place, lane_left};
    const yk_tile_stored<D, L::m> v = {base + L::own_bytes + warp_place, lane_left};
    float dk[L::m][D / 8][4];
    float dv[L::m][D / 8][4];
    yk_tile_clear(dk);
    yk_tile_clear(dv);
    uint32_t here = 2 * L::own_bytes;
    uint32_t other = here + L::stage_bytes;
    if (tiles > 0) {
        bring_keys<T, D, L::rows>(op, head, first, base, base + L::own_bytes);
        bring_queries<T, D>(task, head, first_query, base + here);
    }
    for (int h = 0; h < group * (tiles > 0); h++) {
        for (int t = first_query; t < queries; t += L::passing) {
            yk_copies_wait();
            __syncthreads();
            struct yk_attend_head next = head;
            const bool last = t + L::passing >= queries;
            next.head += last;
            if (!last || h + 1 < group) {
                bring_queries<T, D>(task, next, last ? first_query : t + L::passing, base + other);
            }
            const float *sums = reinterpret_cast<const float *>(shared + here + 2 * L::tile_bytes);
#pragma unroll 1
            for (int c = 0; c < L::passing; c += SUB) {
                const int end = min(t + c + SUB, queries);
                if (t + c >= queries || s >= yk_attend_seen(head, end - 1)) {
                    continue;
                }
                const uint32_t rows = base + here + c * D * 2;
                float scores[L::m][N][4];
                float d_scores[L::m][N][4];
                uint32_t left[L::m][N / 2][4];
                uint32_t d_left[L::m][N / 2][4];
                yk_tile_scores<T, D>(k, rows, scores);
                yk_tile_scores<T, D>(v, rows + L::tile_bytes, d_scores);
                const bool whole = s + L::warp_rows <= yk_attend_seen(head, t + c);
                differentiate_turned<DROP>(task.forward, head, s, t + c, whole, sums + c,
                                           sums + L::passing + c, scores, d_scores);
                yk_tile_pack<T>(scores, left);
                yk_tile_pack<T>(d_scores, d_left);
                yk_tile_add<T, D>(left, rows + L::tile_bytes, dv);
                yk_tile_add<T, D>(d_left, rows, dk);
            }
            head = next;
            const uint32_t worked_on = here;
            here = other;
            other = worked_on;
        }
    }
    float scales[L::m][2];
    float ones[L::m][2];
#pragma unroll
    for (int i = 0; i < L::m * 2; i++) {
        scales[i / 2][i % 2] = op.scale;
        ones[i / 2][i % 2] = 1.0F;
    }
    const int64_t sample = head.sample;
    const int64_t kv_head = place % op.kv_heads;
    yk_tile_store<T, D, L::m>(dk, scales, shared + warp_place,
                              static_cast<T *>(task.dk) +
                                  yk_attend_row(sample, keys, s, task.dk_stride, kv_head, D),
                              task.dk_stride, keys - s);
    yk_tile_store<T, D, L::m>(dv, ones, shared + L::own_bytes + warp_place,
                              static_cast<T *>(task.dv) +
                                  yk_attend_row(sample, keys, s, task.dv_stride, kv_head, D),
                              task.dv_stride, keys - s);
#endif
}

/* dS of queries t … (rows) and keys s … (columns) from scores and dP. */
template <int M>
static __device__ __forceinline__ void
differentiate(float power_scale, const struct yk_attend_head &head, int t, int s, bool whole,
              const float (&bases)[M][2], const float (&products)[M][2],
              const float (&scores)[M][N][4], float (&d_scores)[M][N][4])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int seen = yk_attend_seen(head, t + m * 16 + r * 8 + lane / 4) - s - lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < N * 2; i++) {
                const int j = 2 * r + i % 2;
                float power = yk_power(fmaf(scores[m][i / 2][j], power_scale, -bases[m][r]));
                if (!whole && i / 2 * 8 + i % 2 >= seen) {
                    power = 0;
                }
                d_scores[m][i / 2][j] = power * (d_scores[m][i / 2][j] - products[m][r]);
            }
        }
    }
}

template <typename T, int D, bool DROP>
static __global__ void __launch_bounds__(YK_TENSOR_THREADS, 2)
    find_d_queries(const struct yk_attend_back_task task)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    extern __shared__ __align__(128) unsigned char shared[];
    const struct yk_attend &op = task.forward.op;
    const unsigned heads = static_cast<unsigned>(op.batch * op.heads);
    const unsigned place = blockIdx.x % heads;
    const struct yk_attend_head head = yk_attend_head_of(op, place / op.heads, place % op.heads);
    const int queries = static_cast<int>(op.queries);
    const int first = static_cast<int>(gridDim.x / heads - 1 - blockIdx.x / heads) * L::rows;
    const int warp = threadIdx.x / 32;
    const int t = first + warp * L::warp_rows;
    const int end = yk_attend_seen(head, min(first + L::rows, queries) - 1);
    const int warp_end = t < queries ? yk_attend_seen(head, min(t + L::warp_rows, queries) - 1) : 0;
    const uint32_t base = yk_shared_address(shared);
    yk_tile_bring<T, D, L::rows>(
        base, row_of<T>(op.q, head.sample, queries, first, op.q_stride, head.head, D), op.q_stride,
        queries - first);
    yk_tile_bring<T, D, L::rows>(
        base + L::own_bytes,
        row_of<T>(task.d_out, head.sample, queries, first, op.out_stride, head.head, D),
        op.out_stride, queries - first);
    uint32_t here = base + 2 * L::own_bytes;
    uint32_t other = here + L::stage_bytes;
    bring_keys<T, D, L::passing>(op, head, 0, here, here + L::tile_bytes);
    float bases[L::m][2];
    float products[L::m][2];
    float scales[L::m][2];
#pragma unroll
    for (int i = 0; i < L::m * 2; i++) {
        const int row = t + i * 8 + threadIdx.x % 32 / 4;
        const int64_t at = place * op.queries + row;
        bases[i / 2][i % 2] = row < queries ? op.sums[at] * YK_LOG2_E : 0.0F;
        products[i / 2][i % 2] = row < queries ? task.products[at] : 0.0F;
        scales[i / 2][i % 2] = op.scale;
    }
    const uint32_t warp_place = warp * L::warp_rows * D * 2;
    float dq[L::m][D / 8][4];
    yk_tile_held<D, L::m> q;
    yk_tile_held<D, L::m> d_out;
    yk_tile_clear(dq);
    yk_copies_wait();
    __syncthreads();
    yk_tile_hold(yk_tile_stored<D, L::m>{base + warp_place, yk_tile_lane_left<D>()}, q);
    yk_tile_hold(yk_tile_stored<D, L::m>{base + L::own_bytes + warp_place, yk_tile_lane_left<D>()},
                 d_out);
    for (int s = 0; s < end; s += L::passing) {
        if (s + L::passing < end) {
            bring_keys<T, D, L::passing>(op, head, s + L::passing, other, other + L::tile_bytes);
        }
#pragma unroll 1
        for (int c = 0; c < L::passing && s + c < warp_end; c += SUB) {
            const uint32_t rows = here + c * D * 2;
            float scores[L::m][N][4];
            float d_scores[L::m][N][4];
            uint32_t left[L::m][N / 2][4];
            yk_tile_scores<T, D>(q, rows, scores);
            yk_tile_scores<T, D>(d_out, rows + L::tile_bytes, d_scores);
            if (DROP) {
                yk_tile_drop(task.forward, head, t, s + c, d_scores);
            }
            differentiate(task.forward.power_scale, head, t, s + c,
                          s + c + SUB <= yk_attend_seen(head, t), bases, products, scores,
                          d_scores);
            yk_tile_pack<T>(d_scores, left);
            yk_tile_add<T, D>(left, rows, dq);
        }
        const uint32_t worked_on = here;
        here = other;
        other = worked_on;
        yk_copies_wait();
        __syncthreads();
    }
    yk_tile_store<T, D, L::m>(dq, scales, shared + warp_place,
                              static_cast<T *>(task.dq) + yk_attend_row(head.sample, queries, t,
                                                                        task.dq_stride, head.head,
                                                                        D),
                              task.dq_stride, queries - t);
#endif
}

template <typename T, int D, bool DROP>
static void put(struct yk_backend_lane *lane, const struct yk_attend_back_task *task)
{
    using L = layout<D>;
    const struct yk_attend *op = &task->forward.op;
    const auto d_keys = find_d_keys<T, D, DROP>;
    const auto d_queries = find_d_queries<T, D, DROP>;
    const void *const kernels[] = {reinterpret_cast<const void *>(d_keys),
                                   reinterpret_cast<const void *>(d_queries)};
    for (const void *kernel : kernels) {
        if (!yk_cuda_note(
                lane,
                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, L::bytes),
                "attend back")) {
            return;
        }
    }
    const cudaStream_t stream = yk_cuda_stream(lane);
    const unsigned key_blocks =
        static_cast<unsigned>(op->batch * op->kv_heads * yk_ceil_div(op->keys, L::rows));
    const unsigned query_blocks =
        static_cast<unsigned>(op->batch * op->heads * yk_ceil_div(op->queries, L::rows));
    if (key_blocks > 0) {
        d_keys<<<key_blocks, YK_TENSOR_THREADS, L::bytes, stream>>>(*task);
    }
    if (query_blocks > 0) {
        d_queries<<<query_blocks, YK_TENSOR_THREADS, L::bytes, stream>>>(*task);
    }
    yk_cuda_note(lane, cudaGetLastError(), "attend back");
}

template <typename T>
static void put_type(struct yk_backend_lane *lane, const struct yk_attend_back_task *task)
{
    const bool drop = task->forward.op.dropout.rate > 0;
    if (task->forward.op.head_size == 64) {
        drop ? put<T, 64, true>(lane, task) : put<T, 64, false>(lane, task);
    } else {
        drop ? put<T, 128, true>(lane, task) : put<T, 128, false>(lane, task);
    }
}

void yk_cuda_attend_back_tensor(struct yk_backend_lane *lane,
                                const struct yk_attend_back_task *task)
{
    if (task->forward.op.type == YK_PRECISION_FP16) {
        put_type<__half>(lane, task);
    } else {
        put_type<__nv_bfloat16>(lane, task);
    }
}
