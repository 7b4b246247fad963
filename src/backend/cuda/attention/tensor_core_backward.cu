/*
 * Attention backward on tensor cores, in two kernels without atomics, so that results are the same
 * in every run. One kernel computes dK and dV of a tile of keys and loops over the queries. The
 * other computes dQ of a tile of queries and loops over the keys. Both recompute P and dS, 16 or 32
 * columns at a time: P = 2^(score − sum), dP = dO Vᵀ, dS = P ∘ (dP − products), dV = Pᵀ dO, dK =
 * dSᵀ Q, dQ = dS K. If scores are capped, dS is also multiplied by the derivative of tanh.
 *
 * Registers cannot hold both dK and dV of heads with more than 128 elements. Two kernels then
 * compute them, and both compute the scores.
 */

#include "backend/cuda/attention/tile.cuh"

/* ---- both kernels ---- */

/* Shared memory: the block's own tile of rows, and two stages of the rows that it loops over. */
template <typename K> struct layout {
    static constexpr int d = K::d;
    static constexpr bool wide = d > 128;
    static constexpr int m = d == 64 ? 2 : 1; /* a warp has m · 16 rows; limited by registers */
    static constexpr int warp_rows = m * 16;
    static constexpr int rows = warp_rows * K::warps;
    static constexpr int passing = /* rows per stage */
        d == 64                 ? 64
        : wide && K::warps == 4 ? 16
                                : 32;
    static constexpr int sub = passing < 32 ? passing : 32; /* columns of scores per step */
    static constexpr int n = sub / 8;
    static constexpr int own_bytes = rows * d * 2;
    static constexpr int tile_bytes = passing * d * 2;
    static constexpr int stage_bytes = 2 * tile_bytes + 2 * passing * 4;
    static constexpr int bytes = 2 * own_bytes + 2 * stage_bytes;
    static_assert(bytes * K::blocks <= YK_TILE_LARGE_BLOCK_BYTES, "blocks fit in shared memory");
};

/* Loads ROWS rows of q and d_out, from query t on. */
template <typename K, int ROWS>
YK_DEVICE_INLINE void load_query_rows(const struct yk_attention_backward_kernel_arguments &task,
                                      const struct yk_attention_head &head, int t, uint32_t q,
                                      uint32_t d_out)
{
    const struct yk_attention_op &op = task.forward.op;
    yk_tile_load_queries<K, ROWS>(op, head, t, q);
    yk_tile_load_async<K, ROWS>(d_out,
                                yk_tile_rows_make<K>(op, task.op.d_out, head.sample, op.queries, t,
                                                     static_cast<int>(op.queries), op.out_stride,
                                                     head.head, K::head_size(op)));
}

/* Multiplies the rows of a warp by `scale` and writes them to memory. */
template <typename K>
YK_DEVICE_INLINE void store_rows(const float (&numbers)[layout<K>::m][K::d / 8][4], float scale,
                                 unsigned char *scratch, typename K::type *to, int64_t stride,
                                 int count, int64_t size)
{
    constexpr int m = layout<K>::m;
    float scales[m][2];
#pragma unroll
    for (int i = 0; i < m * 2; i++) {
        scales[i / 2][i % 2] = scale;
    }
    yk_tile_store_scaled<K>(numbers, scales, scratch, to, stride, count, size);
}

/* Returns the derivative of a capped score, 1 − tanh², from x = tanh. `bend` is 1 if scores are
 * capped. Otherwise `bend` is 0, and so the derivative is 1. */
template <typename K> YK_DEVICE_INLINE float slope_of(float bend, float x)
{
    return K::any ? fmaf(-bend * x, x, 1.0F) : 1.0F;
}

/* ---- dK and dV, transposed: rows are keys, so that P and dS come out as left sides ---- */

/* What a kernel computes. */
enum target {
    DK_AND_DV,
    DK_ONLY,
    DV_ONLY,
};

/* Loads a stage of queries from t on: rows of q and d_out, then sums and products. */
template <typename K>
YK_DEVICE_INLINE void load_queries(const struct yk_attention_backward_kernel_arguments &task,
                                   const struct yk_attention_head &head, int t, uint32_t to)
{
    constexpr int passing = layout<K>::passing;
    constexpr int tile_bytes = layout<K>::tile_bytes;
    const struct yk_attention_op &op = task.forward.op;
    const int left = static_cast<int>(op.queries) - t;
    load_query_rows<K, passing>(task, head, t, to, to + tile_bytes);
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
template <typename K, int M, int N>
YK_DEVICE_INLINE void
differentiate_transposed(const struct yk_attention_forward_kernel_arguments &task,
                         const struct yk_attention_head &head, int s, int t, bool whole,
                         const float *sums, const float *products, float (&scores)[M][N][4],
                         float (&d_scores)[M][N][4])
{
    const int lane = threadIdx.x % 32;
    const bool drops = K::drops(task.op);
    const float bend = K::caps(task.op) ? 1.0F : 0.0F;
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
            if (drops) {
                yk_tile_dropout_factors_transposed(task, head, t + n * 8, s + m * 16, factors);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int j = i % 2;
                const int key = s + m * 16 + i / 2 * 8 + lane / 4;
                const int query = t + column + j;
                const float slope = slope_of<K>(bend, scores[m][n][i]);
                float power = yk_exp2(fmaf(scores[m][n][i], task.power_scale, -base[j]));
                if (!whole && (key >= yk_attention_count_visible_keys(head, query) ||
                               (K::any && key < K::first_key(head, query)))) {
                    power = 0;
                }
                d_scores[m][n][i] = power * (d_scores[m][n][i] * factors[i] - mean[j]) * slope;
                scores[m][n][i] = power * factors[i];
            }
        }
    }
}

/* Whether all keys from s on of a warp are visible to all queries of a step, from t on. */
template <typename K>
YK_DEVICE_INLINE bool are_all_visible(const struct yk_attention_head &head, int s, int t)
{
    using L = layout<K>;
    return s + L::warp_rows <= yk_attention_count_visible_keys(head, t) &&
           (!K::any || K::first_key(head, t + L::sub - 1) <= s);
}

/* What the queries t … of a stage add to dK and dV of the warp's keys s …. */
template <typename K, enum target TARGET>
YK_DEVICE_INLINE void
add_stage(const struct yk_attention_forward_kernel_arguments &task,
          const struct yk_attention_head &head, int s, int t, const unsigned char *stage,
          const yk_tile_in_shared_memory<K::d, layout<K>::m> &k,
          const yk_tile_in_shared_memory<K::d, layout<K>::m> &v,
          float (&dk)[layout<K>::m][K::d / 8][4], float (&dv)[layout<K>::m][K::d / 8][4])
{
    using L = layout<K>;
    using T = typename K::type;
    constexpr int D = K::d;
    const int queries = static_cast<int>(task.op.queries);
    const float *sums = reinterpret_cast<const float *>(stage + 2 * L::tile_bytes);
#pragma unroll 1
    for (int c = 0; c < L::passing; c += L::sub) {
        const int end = min(t + c + L::sub, queries);
        if (t + c >= queries || s >= yk_attention_count_visible_keys(head, end - 1) ||
            (K::any && s + L::warp_rows <= K::first_key(head, t + c))) {
            continue;
        }
        const uint32_t rows = yk_shared_memory_address(stage) + c * D * 2;
        float scores[L::m][L::n][4];
        float d_scores[L::m][L::n][4];
        uint32_t left[L::m][L::n / 2][4];
        yk_tile_multiply_by_transpose<T, D>(k, rows, scores);
        if (TARGET == DV_ONLY) {
            yk_tile_clear_registers(d_scores);
        } else {
            yk_tile_multiply_by_transpose<T, D>(v, rows + L::tile_bytes, d_scores);
        }
        if (K::caps(task.op)) {
            yk_tile_cap(task.cap_scale, scores);
        }
        differentiate_transposed<K>(task, head, s, t + c, are_all_visible<K>(head, s, t + c),
                                    sums + c, sums + L::passing + c, scores, d_scores);
        uint32_t d_left[L::m][L::n / 2][4];
        yk_tile_pack_as_left_operand<T>(scores, left);
        yk_tile_pack_as_left_operand<T>(d_scores, d_left);
        if (TARGET != DK_ONLY) {
            yk_tile_multiply_add<T, D>(left, rows + L::tile_bytes, dv);
        }
        if (TARGET != DV_ONLY) {
            yk_tile_multiply_add<T, D>(d_left, rows, dk);
        }
    }
}

/* All queries of the group's heads that see a key of the block's, from `first`. */
template <typename K, enum target TARGET>
YK_DEVICE_INLINE void add_all(const struct yk_attention_backward_kernel_arguments &task,
                              struct yk_attention_head head, int first, unsigned char *shared,
                              float (&dk)[layout<K>::m][K::d / 8][4],
                              float (&dv)[layout<K>::m][K::d / 8][4])
{
    using L = layout<K>;
    constexpr int D = K::d;
    const struct yk_attention_op &op = task.forward.op;
    const int group = static_cast<int>(op.heads / op.kv_heads);
    /* The windows of later queries begin after the keys of the block. */
    const int queries = K::any ? min(static_cast<int>(op.queries), first + L::rows + head.back)
                               : static_cast<int>(op.queries);
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
    yk_tile_load_keys<K, L::rows>(op, head, op.k, op.k_stride, first, base);
    if (TARGET != DV_ONLY) {
        yk_tile_load_keys<K, L::rows>(op, head, op.v, op.v_stride, first, base + L::own_bytes);
    }
    load_queries<K>(task, head, first_query, base + here);
    for (int h = 0; h < group; h++) {
        for (int t = first_query; t < queries; t += L::passing) {
            yk_tile_copy_wait();
            __syncthreads();
            struct yk_attention_head next = head;
            const bool last = t + L::passing >= queries;
            next.head += last;
            if (!last || h + 1 < group) {
                load_queries<K>(task, next, last ? first_query : t + L::passing, base + other);
            }
            add_stage<K, TARGET>(task.forward, head, first + warp_row, t, shared + here, k, v, dk,
                                 dv);
            head = next;
            const int worked_on = here;
            here = other;
            other = worked_on;
        }
    }
}

template <typename K, enum target TARGET>
static __global__ void __launch_bounds__(K::threads, K::blocks)
    find_d_keys(const struct yk_attention_backward_kernel_arguments arguments)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<K>;
    using T = typename K::type;
    constexpr int D = K::d;
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
    add_all<K, TARGET>(
        arguments, yk_attention_head_make<K::any>(op, sample, kv_head * (op.heads / op.kv_heads)),
        first, shared, dk, dv);
    /* A warp's rows of k and v are its own: nobody else reads them any more. */
    const int warp_row = threadIdx.x / 32 * L::warp_rows;
    const int left = static_cast<int>(op.keys) - first - warp_row;
    const int64_t row = first + warp_row;
    unsigned char *scratch = shared + warp_row * D * 2;
    const int64_t size = K::head_size(op);
    const int64_t head_stride = K::head_stride(op);
    if (TARGET != DV_ONLY) {
        store_rows<K>(dk, op.scale, scratch,
                      yk_attention_head_row_address<T>(arguments.op.dk, sample, op.keys, row,
                                                       arguments.op.dk_stride, kv_head,
                                                       head_stride),
                      arguments.op.dk_stride, left, size);
    }
    if (TARGET != DK_ONLY) {
        store_rows<K>(dv, 1.0F, scratch + L::own_bytes,
                      yk_attention_head_row_address<T>(arguments.op.dv, sample, op.keys, row,
                                                       arguments.op.dv_stride, kv_head,
                                                       head_stride),
                      arguments.op.dv_stride, left, size);
    }
#endif
}

/* ---- dQ ---- */

/* dS of queries t … (rows) and keys s … (columns) from scores and dP. */
template <typename K, int M, int N>
YK_DEVICE_INLINE void differentiate(const struct yk_attention_forward_kernel_arguments &task,
                                    const struct yk_attention_head &head, int t, int s, bool whole,
                                    const float (&bases)[M][2], const float (&products)[M][2],
                                    const float (&scores)[M][N][4], float (&d_scores)[M][N][4])
{
    const float bend = K::caps(task.op) ? 1.0F : 0.0F;
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int hidden =
                K::any ? yk_tile_hidden_column_limit(head, t + m * 16 + r * 8, s) : INT32_MIN;
            const int visible = yk_tile_visible_column_limit(head, t + m * 16 + r * 8, s);
#pragma unroll
            for (int i = 0; i < N * 2; i++) {
                const int j = 2 * r + i % 2;
                const int column = i / 2 * 8 + i % 2;
                const float score = scores[m][i / 2][j];
                float power = yk_exp2(fmaf(score, task.power_scale, -bases[m][r]));
                if (!whole && (column >= visible || (K::any && column < hidden))) {
                    power = 0;
                }
                d_scores[m][i / 2][j] =
                    power * (d_scores[m][i / 2][j] - products[m][r]) * slope_of<K>(bend, score);
            }
        }
    }
}

/* Loads the block's rows of q and d_out, from query `first` on, and the first stage of keys, from
 * key s on. */
template <typename K>
YK_DEVICE_INLINE void load_first(const struct yk_attention_backward_kernel_arguments &task,
                                 const struct yk_attention_head &head, int first, int s,
                                 uint32_t base)
{
    using L = layout<K>;
    const uint32_t keys = base + 2 * L::own_bytes;
    load_query_rows<K, L::rows>(task, head, first, base, base + L::own_bytes);
    yk_tile_load_keys_and_values<K, L::passing>(task.forward.op, head, s, keys,
                                                keys + L::tile_bytes);
}

/* What a warp keeps: its rows of q and d_out, in registers if there are enough, and the sums of its
 * rows. */
template <typename K> struct resident_rows {
    using tile = std::conditional_t<layout<K>::wide, yk_tile_in_shared_memory<K::d, layout<K>::m>,
                                    yk_tile_in_registers<K::d, layout<K>::m>>;
    tile q;
    tile d_out;
    float bases[layout<K>::m][2]; /* sums in units of log2 e */
    float products[layout<K>::m][2];
};

template <typename K>
YK_DEVICE_INLINE void load_own(const struct yk_attention_backward_kernel_arguments &task,
                               const struct yk_attention_head &head, int t, uint32_t rows,
                               resident_rows<K> &out)
{
    using L = layout<K>;
    constexpr int D = K::d;
    const struct yk_attention_op &op = task.forward.op;
    const uint32_t lane = yk_tile_left_operand_lane_offset<D>();
#pragma unroll
    for (int i = 0; i < L::m * 2; i++) {
        const int row = t + i * 8 + threadIdx.x % 32 / 4;
        const int64_t at = (head.sample * op.heads + head.head) * op.queries + row;
        out.bases[i / 2][i % 2] = row < op.queries ? op.log_sum_exp[at] * YK_LOG2_E : 0.0F;
        out.products[i / 2][i % 2] = row < op.queries ? task.products[at] : 0.0F;
    }
    const yk_tile_in_shared_memory<D, L::m> q = {rows, lane};
    const yk_tile_in_shared_memory<D, L::m> d_out = {rows + L::own_bytes, lane};
    if constexpr (L::wide) {
        out.q = q;
        out.d_out = d_out;
    } else {
        yk_tile_load_to_registers(q, out.q);
        yk_tile_load_to_registers(d_out, out.d_out);
    }
}

/* What the keys s … of a stage add to dQ. The warp sees those of own.warp_begin to
 * own.warp_end − 1. */
template <typename K>
YK_DEVICE_INLINE void add_stage(const struct yk_attention_forward_kernel_arguments &task,
                                const struct yk_tile_query_range &own, int s, uint32_t stage,
                                const resident_rows<K> &held,
                                float (&dq)[layout<K>::m][K::d / 8][4])
{
    using L = layout<K>;
    using T = typename K::type;
    constexpr int D = K::d;
    const struct yk_attention_head &head = own.head;
    const int t = own.t;
#pragma unroll 1
    for (int c = 0; c < L::passing && s + c < own.warp_end; c += L::sub) {
        if (K::any && s + c + L::sub <= own.warp_begin) {
            continue;
        }
        const uint32_t rows = stage + c * D * 2;
        float scores[L::m][L::n][4];
        float d_scores[L::m][L::n][4];
        uint32_t left[L::m][L::n / 2][4];
        yk_tile_multiply_by_transpose<T, D>(held.q, rows, scores);
        yk_tile_multiply_by_transpose<T, D>(held.d_out, rows + L::tile_bytes, d_scores);
        if (K::drops(task.op)) {
            yk_tile_apply_dropout(task, head, t, s + c, d_scores);
        }
        if (K::caps(task.op)) {
            yk_tile_cap(task.cap_scale, scores);
        }
        const bool whole = s + c + L::sub <= yk_attention_count_visible_keys(head, t) &&
                           (!K::any || K::first_key(head, t + L::warp_rows - 1) <= s + c);
        differentiate<K>(task, head, t, s + c, whole, held.bases, held.products, scores, d_scores);
        yk_tile_pack_as_left_operand<T>(d_scores, left);
        yk_tile_multiply_add<T, D>(left, rows, dq);
    }
}

template <typename K>
static __global__ void __launch_bounds__(K::threads, K::blocks)
    find_d_queries(const struct yk_attention_backward_kernel_arguments arguments)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<K>;
    using T = typename K::type;
    constexpr int D = K::d;
    extern __shared__ __align__(128) unsigned char shared[];
    const struct yk_attention_op &op = arguments.forward.op;
    const int queries = static_cast<int>(op.queries);
    const struct yk_tile_query_range own = yk_tile_query_range_make<K, L::rows, L::warp_rows>(op);
    const struct yk_attention_head &head = own.head;
    const int t = own.t;
    const int begin = own.begin / L::passing * L::passing;
    const uint32_t base = yk_shared_memory_address(shared);
    uint32_t here = base + 2 * L::own_bytes;
    uint32_t other = here + L::stage_bytes;
    resident_rows<K> held;
    float dq[L::m][D / 8][4];
    load_first<K>(arguments, head, own.first, begin, base);
    yk_tile_clear_registers(dq);
    yk_tile_copy_wait();
    __syncthreads();
    load_own(arguments, head, t, base + own.warp_row * D * 2, held);
    for (int s = begin; s < own.end; s += L::passing) {
        if (s + L::passing < own.end) {
            yk_tile_load_keys_and_values<K, L::passing>(op, head, s + L::passing, other,
                                                        other + L::tile_bytes);
        }
        add_stage<K>(arguments.forward, own, s, here, held, dq);
        const uint32_t worked_on = here;
        here = other;
        other = worked_on;
        yk_tile_copy_wait();
        __syncthreads();
    }
    store_rows<K>(dq, op.scale, shared + own.warp_row * D * 2,
                  yk_attention_head_row_address<T>(arguments.op.dq, head.sample, queries, t,
                                                   arguments.op.dq_stride, head.head,
                                                   K::head_stride(op)),
                  arguments.op.dq_stride, queries - t, K::head_size(op));
#endif
}

void yk_cuda_attention_tensor_core_backward(
    struct yk_backend_lane *lane, const struct yk_attention_backward_kernel_arguments *arguments)
{
    const struct yk_attention_op &op = arguments->forward.op;
    const size_t shared_bytes = yk_cuda_lane_device_properties(lane)->shared_bytes;
    const char *action = "attention_backward";
    yk_tile_dispatch(op, shared_bytes, [&](auto kind) {
        using K = decltype(kind);
        using L = layout<K>;
        const int64_t key_blocks = op.batch * op.kv_heads * yk_number_ceil_div(op.keys, L::rows);
        const int64_t query_blocks = op.batch * op.heads * yk_number_ceil_div(op.queries, L::rows);
        bool ok = true;
        if constexpr (L::wide) {
            ok = yk_tile_launch_kernel<K>(lane, find_d_keys<K, DV_ONLY>, arguments, key_blocks,
                                          L::bytes, action) &&
                 yk_tile_launch_kernel<K>(lane, find_d_keys<K, DK_ONLY>, arguments, key_blocks,
                                          L::bytes, action);
        } else {
            ok = yk_tile_launch_kernel<K>(lane, find_d_keys<K, DK_AND_DV>, arguments, key_blocks,
                                          L::bytes, action);
        }
        return ok && yk_tile_launch_kernel<K>(lane, find_d_queries<K>, arguments, query_blocks,
                                              L::bytes, action);
    });
}
