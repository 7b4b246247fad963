/*
 * Attention backward on tensor cores, in two kernels without atomics, so that results are the same
 * in every run. One kernel computes dK and dV of a tile of keys and loops over the queries. The
 * other computes dQ of a tile of queries and loops over the keys. Both recompute P and dS, 32
 * columns at a time: P = 2^(score − sum), dP = dO Vᵀ, dS = P ∘ (dP − products), dV = Pᵀ dO, dK =
 * dSᵀ Q, dQ = dS K.
 */

#include "backend/cuda/attention/tile.cuh"

/* ---- both kernels ---- */

enum {
    WARPS = YK_TENSOR_CORE_BLOCK_THREADS / 32,
    SUB = 32, /* columns of scores per step */
    N = SUB / 8,
};

/* Shared memory: the block's own tile of rows, and two stages of the rows that it loops over. */
template <int D> struct layout {
    static constexpr int m = D == 64 ? 2 : 1; /* a warp has m · 16 rows; limited by registers */
    static constexpr int warp_rows = m * 16;
    static constexpr int rows = warp_rows * WARPS;
    static constexpr int passing = D == 64 ? 64 : 32; /* rows per stage */
    static constexpr int own_bytes = rows * D * 2;
    static constexpr int tile_bytes = passing * D * 2;
    static constexpr int stage_bytes = 2 * tile_bytes + 2 * passing * 4;
    static constexpr int bytes = 2 * own_bytes + 2 * stage_bytes;
};

/* Loads ROWS rows of q and d_out, from query t on. */
template <typename T, int D, int ROWS>
YK_DEVICE_INLINE void load_query_rows(const struct yk_attention_backward_kernel_arguments &task,
                                      const struct yk_attention_head &head, int t, uint32_t q,
                                      uint32_t d_out)
{
    const struct yk_attention_op &op = task.forward.op;
    const int left = static_cast<int>(op.queries) - t;
    yk_tile_load_async<T, D, ROWS>(q, op.q, head.sample, op.queries, t, op.q_stride, head.head,
                                   left);
    yk_tile_load_async<T, D, ROWS>(d_out, task.op.d_out, head.sample, op.queries, t, op.out_stride,
                                   head.head, left);
}

/* Multiplies the rows of a warp by `scale` and writes them to memory. */
template <typename T, int D>
YK_DEVICE_INLINE void store_rows(const float (&numbers)[layout<D>::m][D / 8][4], float scale,
                                 unsigned char *scratch, T *to, int64_t stride, int count)
{
    constexpr int m = layout<D>::m;
    float scales[m][2];
#pragma unroll
    for (int i = 0; i < m * 2; i++) {
        scales[i / 2][i % 2] = scale;
    }
    yk_tile_store_scaled<T, D, m>(numbers, scales, scratch, to, stride, count);
}

/* ---- dK and dV, transposed: rows are keys, so that P and dS come out as left sides ---- */

/* Loads a stage of queries from t on: rows of q and d_out, then sums and products. */
template <typename T, int D>
YK_DEVICE_INLINE void load_queries(const struct yk_attention_backward_kernel_arguments &task,
                                   const struct yk_attention_head &head, int t, uint32_t to)
{
    constexpr int passing = layout<D>::passing;
    constexpr int tile_bytes = layout<D>::tile_bytes;
    const struct yk_attention_op &op = task.forward.op;
    const int left = static_cast<int>(op.queries) - t;
    load_query_rows<T, D, passing>(task, head, t, to, to + tile_bytes);
    const int at = threadIdx.x % passing;
    const float *from = threadIdx.x < passing ? op.log_sum_exp : task.products;
    if (threadIdx.x < 2 * passing) {
        from += (head.sample * op.heads + head.head) * op.queries + t;
        yk_tile_copy_4_bytes_async(to + 2 * tile_bytes + threadIdx.x * 4,
                                   from + (at < left ? at : 0), at < left);
    }
}

/*
 * From scores and dP of keys s … (rows) and queries t … (columns): P, with what dropout does to it,
 * and dS. `sums` and `products` are those of query t.
 */
template <bool DROP, int M>
YK_DEVICE_INLINE void
differentiate_transposed(const struct yk_attention_forward_kernel_arguments &task,
                         const struct yk_attention_head &head, int s, int t, bool whole,
                         const float *sums, const float *products, float (&scores)[M][N][4],
                         float (&d_scores)[M][N][4])
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
                yk_tile_dropout_factors_transposed(task, head, t + n * 8, s + m * 16, factors);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int j = i % 2;
                const int key = s + m * 16 + i / 2 * 8 + lane / 4;
                float power = yk_exp2(fmaf(scores[m][n][i], task.power_scale, -base[j]));
                if (!whole && key >= yk_attention_count_visible_keys(head, t + column + j)) {
                    power = 0;
                }
                d_scores[m][n][i] = power * (d_scores[m][n][i] * factors[i] - mean[j]);
                scores[m][n][i] = power * factors[i];
            }
        }
    }
}

/* What the queries t … of a stage add to dK and dV of the warp's keys s …. */
template <typename T, int D, bool DROP>
YK_DEVICE_INLINE void
add_stage(const struct yk_attention_forward_kernel_arguments &task,
          const struct yk_attention_head &head, int s, int t, const unsigned char *stage,
          const yk_tile_in_shared_memory<D, layout<D>::m> &k,
          const yk_tile_in_shared_memory<D, layout<D>::m> &v, float (&dk)[layout<D>::m][D / 8][4],
          float (&dv)[layout<D>::m][D / 8][4])
{
    using L = layout<D>;
    const int queries = static_cast<int>(task.op.queries);
    const float *sums = reinterpret_cast<const float *>(stage + 2 * L::tile_bytes);
#pragma unroll 1
    for (int c = 0; c < L::passing; c += SUB) {
        const int end = min(t + c + SUB, queries);
        if (t + c >= queries || s >= yk_attention_count_visible_keys(head, end - 1)) {
            continue;
        }
        const uint32_t rows = yk_shared_memory_address(stage) + c * D * 2;
        float scores[L::m][N][4];
        float d_scores[L::m][N][4];
        uint32_t left[L::m][N / 2][4];
        uint32_t d_left[L::m][N / 2][4];
        yk_tile_multiply_by_transpose<T, D>(k, rows, scores);
        yk_tile_multiply_by_transpose<T, D>(v, rows + L::tile_bytes, d_scores);
        const bool whole = s + L::warp_rows <= yk_attention_count_visible_keys(head, t + c);
        differentiate_transposed<DROP>(task, head, s, t + c, whole, sums + c, sums + L::passing + c,
                                       scores, d_scores);
        yk_tile_pack_as_left_operand<T>(scores, left);
        yk_tile_pack_as_left_operand<T>(d_scores, d_left);
        yk_tile_multiply_add<T, D>(left, rows + L::tile_bytes, dv);
        yk_tile_multiply_add<T, D>(d_left, rows, dk);
    }
}

/* All queries of the group's heads that see a key of the block's, from `first`. */
template <typename T, int D, bool DROP>
YK_DEVICE_INLINE void add_all(const struct yk_attention_backward_kernel_arguments &task,
                              struct yk_attention_head head, int first, unsigned char *shared,
                              float (&dk)[layout<D>::m][D / 8][4],
                              float (&dv)[layout<D>::m][D / 8][4])
{
    using L = layout<D>;
    const struct yk_attention_op &op = task.forward.op;
    const int group = static_cast<int>(op.heads / op.kv_heads);
    const int queries = static_cast<int>(op.queries);
    const int warp_row = threadIdx.x / 32 * L::warp_rows;
    const int first_query = max(first - head.shift, 0) / L::passing * L::passing;
    const uint32_t base = yk_shared_memory_address(shared);
    const uint32_t warp_rows = base + warp_row * D * 2;
    const yk_tile_in_shared_memory<D, L::m> k = {warp_rows, yk_tile_left_operand_lane_offset<D>()};
    const yk_tile_in_shared_memory<D, L::m> v = {warp_rows + L::own_bytes,
                                                 yk_tile_left_operand_lane_offset<D>()};
    int here = 2 * L::own_bytes;
    int other = here + L::stage_bytes;
    if (first >= head.length || first_query >= queries) {
        return;
    }
    yk_tile_load_keys_and_values<T, D, L::rows>(op, head, first, base, base + L::own_bytes);
    load_queries<T, D>(task, head, first_query, base + here);
    for (int h = 0; h < group; h++) {
        for (int t = first_query; t < queries; t += L::passing) {
            yk_tile_copy_wait();
            __syncthreads();
            struct yk_attention_head next = head;
            const bool last = t + L::passing >= queries;
            next.head += last;
            if (!last || h + 1 < group) {
                load_queries<T, D>(task, next, last ? first_query : t + L::passing, base + other);
            }
            add_stage<T, D, DROP>(task.forward, head, first + warp_row, t, shared + here, k, v, dk,
                                  dv);
            head = next;
            const int worked_on = here;
            here = other;
            other = worked_on;
        }
    }
}

template <typename T, int D, bool DROP>
static __global__ void __launch_bounds__(YK_TENSOR_CORE_BLOCK_THREADS, 2)
    find_d_keys(const struct yk_attention_backward_kernel_arguments arguments)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    const struct yk_attention_op &op = arguments.forward.op;
    const unsigned kv_heads = static_cast<unsigned>(op.batch * op.kv_heads);
    const unsigned place = blockIdx.x % kv_heads;
    const int64_t sample = place / op.kv_heads;
    const int64_t kv_head = place % op.kv_heads;
    /* The first keys, which most queries see, begin first. */
    const int first = static_cast<int>(blockIdx.x / kv_heads) * L::rows;
    extern __shared__ __align__(128) unsigned char shared[]; /* k and v, then stages of queries */
    float dk[L::m][D / 8][4];
    float dv[L::m][D / 8][4];
    yk_tile_clear_registers(dk);
    yk_tile_clear_registers(dv);
    add_all<T, D, DROP>(arguments,
                        yk_attention_head_make(op, sample, kv_head * (op.heads / op.kv_heads)),
                        first, shared, dk, dv);
    /* A warp's rows of k and v are its own: nobody else reads them any more. */
    const int warp_row = threadIdx.x / 32 * L::warp_rows;
    const int left = static_cast<int>(op.keys) - first - warp_row;
    const int64_t row = first + warp_row;
    unsigned char *scratch = shared + warp_row * D * 2;
    store_rows<T, D>(dk, op.scale, scratch,
                     yk_attention_head_row_address<T>(arguments.op.dk, sample, op.keys, row,
                                                      arguments.op.dk_stride, kv_head, D),
                     arguments.op.dk_stride, left);
    store_rows<T, D>(dv, 1.0F, scratch + L::own_bytes,
                     yk_attention_head_row_address<T>(arguments.op.dv, sample, op.keys, row,
                                                      arguments.op.dv_stride, kv_head, D),
                     arguments.op.dv_stride, left);
#endif
}

/* ---- dQ ---- */

/* dS of queries t … (rows) and keys s … (columns) from scores and dP. */
template <int M>
YK_DEVICE_INLINE void differentiate(float power_scale, const struct yk_attention_head &head, int t,
                                    int s, bool whole, const float (&bases)[M][2],
                                    const float (&products)[M][2], const float (&scores)[M][N][4],
                                    float (&d_scores)[M][N][4])
{
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int visible = yk_tile_visible_column_limit(head, t + m * 16 + r * 8, s);
#pragma unroll
            for (int i = 0; i < N * 2; i++) {
                const int j = 2 * r + i % 2;
                float power = yk_exp2(fmaf(scores[m][i / 2][j], power_scale, -bases[m][r]));
                if (!whole && i / 2 * 8 + i % 2 >= visible) {
                    power = 0;
                }
                d_scores[m][i / 2][j] = power * (d_scores[m][i / 2][j] - products[m][r]);
            }
        }
    }
}

/* Loads the block's rows of q and d_out, from query `first` on, and the first stage of keys. */
template <typename T, int D>
YK_DEVICE_INLINE void load_first(const struct yk_attention_backward_kernel_arguments &task,
                                 const struct yk_attention_head &head, int first, uint32_t base)
{
    using L = layout<D>;
    const uint32_t keys = base + 2 * L::own_bytes;
    load_query_rows<T, D, L::rows>(task, head, first, base, base + L::own_bytes);
    yk_tile_load_keys_and_values<T, D, L::passing>(task.forward.op, head, 0, keys,
                                                   keys + L::tile_bytes);
}

/* What a warp keeps in registers: its rows of q and d_out, and the sums of its rows. */
template <int D> struct resident_rows {
    yk_tile_in_registers<D, layout<D>::m> q;
    yk_tile_in_registers<D, layout<D>::m> d_out;
    float bases[layout<D>::m][2]; /* sums in units of log2 e */
    float products[layout<D>::m][2];
};

template <int D>
YK_DEVICE_INLINE void load_own(const struct yk_attention_backward_kernel_arguments &task,
                               const struct yk_attention_head &head, int t, uint32_t rows,
                               resident_rows<D> &out)
{
    using L = layout<D>;
    const struct yk_attention_op &op = task.forward.op;
    const uint32_t lane = yk_tile_left_operand_lane_offset<D>();
#pragma unroll
    for (int i = 0; i < L::m * 2; i++) {
        const int row = t + i * 8 + threadIdx.x % 32 / 4;
        const int64_t at = (head.sample * op.heads + head.head) * op.queries + row;
        out.bases[i / 2][i % 2] = row < op.queries ? op.log_sum_exp[at] * YK_LOG2_E : 0.0F;
        out.products[i / 2][i % 2] = row < op.queries ? task.products[at] : 0.0F;
    }
    yk_tile_load_to_registers(yk_tile_in_shared_memory<D, L::m>{rows, lane}, out.q);
    yk_tile_load_to_registers(yk_tile_in_shared_memory<D, L::m>{rows + L::own_bytes, lane},
                              out.d_out);
}

/* What the keys s … of a stage, of which the warp sees those before `end`, add to dQ. */
template <typename T, int D, bool DROP>
YK_DEVICE_INLINE void add_stage(const struct yk_attention_forward_kernel_arguments &task,
                                const struct yk_attention_head &head, int t, int s, int end,
                                uint32_t stage, const resident_rows<D> &held,
                                float (&dq)[layout<D>::m][D / 8][4])
{
    using L = layout<D>;
#pragma unroll 1
    for (int c = 0; c < L::passing && s + c < end; c += SUB) {
        const uint32_t rows = stage + c * D * 2;
        float scores[L::m][N][4];
        float d_scores[L::m][N][4];
        uint32_t left[L::m][N / 2][4];
        yk_tile_multiply_by_transpose<T, D>(held.q, rows, scores);
        yk_tile_multiply_by_transpose<T, D>(held.d_out, rows + L::tile_bytes, d_scores);
        if (DROP) {
            yk_tile_apply_dropout(task, head, t, s + c, d_scores);
        }
        const bool whole = s + c + SUB <= yk_attention_count_visible_keys(head, t);
        differentiate(task.power_scale, head, t, s + c, whole, held.bases, held.products, scores,
                      d_scores);
        yk_tile_pack_as_left_operand<T>(d_scores, left);
        yk_tile_multiply_add<T, D>(left, rows, dq);
    }
}

template <typename T, int D, bool DROP>
static __global__ void __launch_bounds__(YK_TENSOR_CORE_BLOCK_THREADS, 2)
    find_d_queries(const struct yk_attention_backward_kernel_arguments arguments)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    extern __shared__ __align__(128) unsigned char shared[];
    const struct yk_attention_op &op = arguments.forward.op;
    const int queries = static_cast<int>(op.queries);
    const struct yk_tile_query_range own = yk_tile_query_range_make<L::rows, L::warp_rows>(op);
    const struct yk_attention_head &head = own.head;
    const int t = own.t;
    const uint32_t base = yk_shared_memory_address(shared);
    uint32_t here = base + 2 * L::own_bytes;
    uint32_t other = here + L::stage_bytes;
    resident_rows<D> held;
    float dq[L::m][D / 8][4];
    load_first<T, D>(arguments, head, own.first, base);
    yk_tile_clear_registers(dq);
    yk_tile_copy_wait();
    __syncthreads();
    load_own(arguments, head, t, base + own.warp_row * D * 2, held);
    for (int s = 0; s < own.end; s += L::passing) {
        if (s + L::passing < own.end) {
            yk_tile_load_keys_and_values<T, D, L::passing>(op, head, s + L::passing, other,
                                                           other + L::tile_bytes);
        }
        add_stage<T, D, DROP>(arguments.forward, head, t, s, own.warp_end, here, held, dq);
        const uint32_t worked_on = here;
        here = other;
        other = worked_on;
        yk_tile_copy_wait();
        __syncthreads();
    }
    store_rows<T, D>(dq, op.scale, shared + own.warp_row * D * 2,
                     yk_attention_head_row_address<T>(arguments.op.dq, head.sample, queries, t,
                                                      arguments.op.dq_stride, head.head, D),
                     arguments.op.dq_stride, queries - t);
#endif
}

void yk_cuda_attention_tensor_core_backward(
    struct yk_backend_lane *lane, const struct yk_attention_backward_kernel_arguments *arguments)
{
    const struct yk_attention_op &op = arguments->forward.op;
    yk_tile_dispatch_type_and_head_size(op, [&](auto number, auto size) {
        using T = decltype(number);
        constexpr int d = decltype(size)::value;
        using L = layout<d>;
        const bool drops = op.dropout.rate > 0;
        const auto d_keys = drops ? find_d_keys<T, d, true> : find_d_keys<T, d, false>;
        const auto d_queries = drops ? find_d_queries<T, d, true> : find_d_queries<T, d, false>;
        const int64_t key_blocks = op.batch * op.kv_heads * yk_number_ceil_div(op.keys, L::rows);
        const int64_t query_blocks = op.batch * op.heads * yk_number_ceil_div(op.queries, L::rows);
        return yk_tile_launch_kernel(lane, d_keys, arguments, key_blocks, L::bytes,
                                     "attention_backward") &&
               yk_tile_launch_kernel(lane, d_queries, arguments, query_blocks, L::bytes,
                                     "attention_backward");
    });
}
