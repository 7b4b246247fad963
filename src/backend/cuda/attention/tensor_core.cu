/*
 * Attention on tensor cores (Dao 2023). A block processes 128 queries, 32 per warp, and loops over
 * tiles of keys. It copies the next tile while it computes with the current one. Scores,
 * probabilities and the output stay in registers. Of heads with more than 128 elements a warp
 * processes only 16 queries, because registers hold no more of the output.
 */
#include "backend/cuda/attention/tile.cuh"

/* The state of a lane for its rows 16m + 8r + lane / 4. Sums cover the columns of the lane only. */
template <int M> struct softmax {
    float highest[M][2];
    float sums[M][2];

    __device__ __forceinline__ void clear(void)
    {
#pragma unroll
        for (int i = 0; i < M * 2; i++) {
            highest[i / 2][i % 2] = -INFINITY;
            sums[i / 2][i % 2] = 0;
        }
    }
};

template <typename K> struct layout {
    static constexpr int m = K::d > 128 ? 1 : 2; /* a warp has m · 16 queries */
    static constexpr int warp_rows = m * 16;
    static constexpr int rows = warp_rows * K::warps;
    static constexpr int keys = K::d > 128 && K::warps == 4 ? 32 : 64; /* per tile */
    static constexpr bool holds = K::d == 64; /* queries stay in registers */
    static constexpr int tile_bytes = keys * K::d * 2;
    static constexpr int query_bytes = rows * K::d * 2;
    /* The queries, then two buffers of keys and values. */
    static constexpr int bytes = query_bytes + 4 * tile_bytes;
    static_assert(bytes * K::blocks <= YK_TILE_LARGE_BLOCK_BYTES, "blocks fit in shared memory");
};

/* Sets the scores of invisible keys to −∞. Rows are queries from t on, columns keys from s on. */
template <typename K, int M, int N>
YK_DEVICE_INLINE void mask(const struct yk_attention_head &head, int t, int s,
                           float (&scores)[M][N][4])
{
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        const int m = i / 2;
        const int r = i % 2;
        const int hidden =
            K::any ? yk_tile_hidden_column_limit(head, t + m * 16 + r * 8, s) : INT32_MIN;
        const int visible = yk_tile_visible_column_limit(head, t + m * 16 + r * 8, s);
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                if (n * 8 + j >= visible || (K::any && n * 8 + j < hidden)) {
                    scores[m][n][2 * r + j] = -INFINITY;
                }
            }
        }
    }
}

/* Online softmax: replaces scores by powers of two and rescales the output so far. */
template <int D, int M, int N>
YK_DEVICE_INLINE void exponentiate(float scale, float (&scores)[M][N][4],
                                   struct softmax<M> &softmax, float (&out)[M][D / 8][4])
{
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float highest = softmax.highest[m][r];
            const float before = highest;
#pragma unroll
            for (int n = 0; n < N; n++) {
                highest = fmaxf(highest, fmaxf(scores[m][n][2 * r], scores[m][n][2 * r + 1]));
            }
            highest = fmaxf(highest, __shfl_xor_sync(0xffffffffU, highest, 1));
            highest = fmaxf(highest, __shfl_xor_sync(0xffffffffU, highest, 2));
            const float base = highest == -INFINITY ? 0.0F : highest * scale;
            const float worth = yk_exp2(fmaf(before, scale, -base));
            float sum = 0;
#pragma unroll
            for (int n = 0; n < N; n++) {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const float power = yk_exp2(fmaf(scores[m][n][2 * r + j], scale, -base));
                    scores[m][n][2 * r + j] = power;
                    sum += power;
                }
            }
            softmax.highest[m][r] = highest;
            softmax.sums[m][r] = fmaf(softmax.sums[m][r], worth, sum);
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                out[m][n][2 * r] *= worth;
                out[m][n][2 * r + 1] *= worth;
            }
        }
    }
}

/* Writes the warp's rows of out and sums. */
template <typename K, int M>
YK_DEVICE_INLINE void finish(const struct yk_attention_op &op, const struct yk_attention_head &head,
                             int t, const struct softmax<M> &softmax,
                             const float (&out)[M][K::d / 8][4], unsigned char *scratch)
{
    using T = typename K::type;
    const int lane = threadIdx.x % 32;
    const int queries = static_cast<int>(op.queries);
    float shares[M][2];
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = t + m * 16 + r * 8 + lane / 4;
            float sum = softmax.sums[m][r];
            sum += __shfl_xor_sync(0xffffffffU, sum, 1);
            sum += __shfl_xor_sync(0xffffffffU, sum, 2);
            shares[m][r] = sum == 0 ? 0.0F : 1.0F / sum;
            if (op.log_sum_exp && lane % 4 == 0 && row < queries) {
                const float highest = softmax.highest[m][r] * (K::caps(op) ? op.softcap : op.scale);
                op.log_sum_exp[(head.sample * op.heads + head.head) * op.queries + row] =
                    highest + log2f(sum) * YK_LN_2;
            }
        }
    }
    const int64_t size = K::head_size(op);
    yk_tile_store_scaled<K>(out, shares, scratch,
                            yk_attention_head_row_address<T>(op.out, head.sample, queries, t,
                                                             op.out_stride, head.head, size),
                            op.out_stride, queries - t, size);
}

/* Adds the keys of a stage, from s on, to the output of the warp's queries, from t on. */
template <typename K, int M, typename LEFT>
YK_DEVICE_INLINE void add_stage(const struct yk_attention_forward_kernel_arguments &task,
                                const struct yk_attention_head &head, int t, int s, uint32_t stage,
                                const LEFT &q, struct softmax<M> &softmax,
                                float (&out)[M][K::d / 8][4])
{
    using T = typename K::type;
    using L = layout<K>;
    constexpr int keys = L::keys;
    float scores[M][keys / 8][4];
    uint32_t powers[M][keys / 16][4];
    yk_tile_multiply_by_transpose<T, K::d>(q, stage, scores);
    if (K::caps(task.op)) {
        yk_tile_cap(task.cap_scale, scores);
    }
    if (s + keys > yk_attention_count_visible_keys(head, t) ||
        (K::any && s < K::first_key(head, t + L::warp_rows - 1))) {
        mask<K>(head, t, s, scores);
    }
    exponentiate<K::d>(task.power_scale, scores, softmax, out);
    if (K::drops(task.op)) {
        yk_tile_apply_dropout(task, head, t, s, scores);
    }
    yk_tile_pack_as_left_operand<T>(scores, powers);
    yk_tile_multiply_add<T, K::d>(powers, stage + L::tile_bytes, out);
}

template <typename K>
static __global__ void __launch_bounds__(K::threads, K::blocks)
    attention_kernel(const struct yk_attention_forward_kernel_arguments arguments)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<K>;
    constexpr int D = K::d;
    constexpr int M = L::m;
    const struct yk_attention_op &op = arguments.op;
    const struct yk_tile_query_range own = yk_tile_query_range_make<K, L::rows, L::warp_rows>(op);
    const struct yk_attention_head &head = own.head;
    const int t = own.t;
    const int begin = own.begin / L::keys * L::keys;
    extern __shared__ __align__(128) unsigned char shared[];
    const uint32_t base = yk_shared_memory_address(shared);
    uint32_t here = base + L::query_bytes;
    uint32_t other = here + 2 * L::tile_bytes;
    yk_tile_load_queries<K, L::rows>(op, head, own.first, base);
    yk_tile_load_keys_and_values<K, L::keys>(op, head, begin, here, here + L::tile_bytes);
    const yk_tile_in_shared_memory<D, M> stored = {base + own.warp_row * D * 2,
                                                   yk_tile_left_operand_lane_offset<D>()};
    yk_tile_in_registers<D, M> held;
    struct softmax<M> softmax;
    float out[M][D / 8][4];
    yk_tile_clear_registers(out);
    softmax.clear();
    yk_tile_copy_wait();
    __syncthreads();
    if (L::holds) {
        yk_tile_load_to_registers(stored, held);
    }
    for (int s = begin; s < own.end; s += L::keys) {
        if (s + L::keys < own.end) {
            yk_tile_load_keys_and_values<K, L::keys>(op, head, s + L::keys, other,
                                                     other + L::tile_bytes);
        }
        const bool sees = s < own.warp_end && (!K::any || s + L::keys > own.warp_begin);
        if (sees && L::holds) {
            add_stage<K>(arguments, head, t, s, here, held, softmax, out);
        } else if (sees) {
            add_stage<K>(arguments, head, t, s, here, stored, softmax, out);
        }
        const uint32_t worked_on = here;
        here = other;
        other = worked_on;
        yk_tile_copy_wait();
        __syncthreads();
    }
    finish<K>(op, head, t, softmax, out, shared + own.warp_row * D * 2);
#endif
}

void yk_cuda_attention_tensor_core_forward(
    struct yk_backend_lane *lane, const struct yk_attention_forward_kernel_arguments *arguments)
{
    const struct yk_attention_op &op = arguments->op;
    const size_t shared_bytes = yk_cuda_lane_device_properties(lane)->shared_bytes;
    yk_tile_dispatch(op, shared_bytes, [&](auto kind) {
        using K = decltype(kind);
        using L = layout<K>;
        const int64_t blocks = op.batch * op.heads * yk_number_ceil_div(op.queries, L::rows);
        yk_tile_launch_kernel<K>(lane, attention_kernel<K>, arguments, blocks, L::bytes,
                                 "attention");
    });
}
