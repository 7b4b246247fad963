/*
 * Attention on tensor cores (Dao 2023). A block processes 128 queries, 32 per warp, and loops over
 * tiles of keys. It copies the next tile while it computes with the current one. Scores,
 * probabilities and the output stay in registers.
 */
#include "backend/cuda/attention/tile.cuh"

enum {
    M = 2, /* a warp has M · 16 queries */
    WARP_ROWS = M * 16,
    ROWS = WARP_ROWS * YK_TENSOR_CORE_BLOCK_THREADS / 32,
};

/* The state of a lane for its rows 16m + 8r + lane / 4. Sums cover the columns of the lane only. */
struct softmax {
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

template <int D> struct layout {
    static constexpr int keys = 64;        /* per tile */
    static constexpr bool holds = D == 64; /* queries stay in registers */
    static constexpr int tile_bytes = keys * D * 2;
    static constexpr int query_bytes = ROWS * D * 2;
    /* The queries, then two buffers of keys and values. */
    static constexpr int bytes = query_bytes + 4 * tile_bytes;
};

/* Sets the scores of invisible keys to −∞. Rows are queries from t on, columns keys from s on. */
template <int N>
YK_DEVICE_INLINE void mask(const struct yk_attention_head &head, int t, int s,
                           float (&scores)[M][N][4])
{
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        const int m = i / 2;
        const int r = i % 2;
        const int visible = yk_tile_visible_column_limit(head, t + m * 16 + r * 8, s);
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                if (n * 8 + j >= visible) {
                    scores[m][n][2 * r + j] = -INFINITY;
                }
            }
        }
    }
}

/* Online softmax: replaces scores by powers of two and rescales the output so far. */
template <int D, int N>
YK_DEVICE_INLINE void exponentiate(float scale, float (&scores)[M][N][4], struct softmax &softmax,
                                   float (&out)[M][D / 8][4])
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
template <typename T, int D>
YK_DEVICE_INLINE void finish(const struct yk_attention_op &op, const struct yk_attention_head &head,
                             int t, const struct softmax &softmax, const float (&out)[M][D / 8][4],
                             unsigned char *scratch)
{
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
                const float highest = softmax.highest[m][r] * op.scale;
                op.log_sum_exp[(head.sample * op.heads + head.head) * op.queries + row] =
                    highest + log2f(sum) * YK_LN_2;
            }
        }
    }
    yk_tile_store_scaled<T, D, M>(out, shares, scratch,
                                  yk_attention_head_row_address<T>(op.out, head.sample, queries, t,
                                                                   op.out_stride, head.head, D),
                                  op.out_stride, queries - t);
}

/* Adds the keys of a stage, from s on, to the output of the warp's queries, from t on. */
template <typename T, int D, bool DROP, typename LEFT>
YK_DEVICE_INLINE void add_stage(const struct yk_attention_forward_kernel_arguments &task,
                                const struct yk_attention_head &head, int t, int s, uint32_t stage,
                                const LEFT &q, struct softmax &softmax, float (&out)[M][D / 8][4])
{
    constexpr int keys = layout<D>::keys;
    float scores[M][keys / 8][4];
    uint32_t powers[M][keys / 16][4];
    yk_tile_multiply_by_transpose<T, D>(q, stage, scores);
    if (s + keys > yk_attention_count_visible_keys(head, t)) {
        mask(head, t, s, scores);
    }
    exponentiate<D>(task.power_scale, scores, softmax, out);
    if (DROP) {
        yk_tile_apply_dropout(task, head, t, s, scores);
    }
    yk_tile_pack_as_left_operand<T>(scores, powers);
    yk_tile_multiply_add<T, D>(powers, stage + layout<D>::tile_bytes, out);
}

template <typename T, int D, bool DROP>
static __global__ void __launch_bounds__(YK_TENSOR_CORE_BLOCK_THREADS, 2)
    attention_kernel(const struct yk_attention_forward_kernel_arguments arguments)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    const struct yk_attention_op &op = arguments.op;
    const struct yk_tile_query_range own = yk_tile_query_range_make<ROWS, WARP_ROWS>(op);
    const struct yk_attention_head &head = own.head;
    const int t = own.t;
    extern __shared__ __align__(128) unsigned char shared[];
    const uint32_t base = yk_shared_memory_address(shared);
    uint32_t here = base + L::query_bytes;
    uint32_t other = here + 2 * L::tile_bytes;
    yk_tile_load_async<T, D, ROWS>(base, op.q, head.sample, op.queries, own.first, op.q_stride,
                                   head.head, static_cast<int>(op.queries) - own.first);
    yk_tile_load_keys_and_values<T, D, L::keys>(op, head, 0, here, here + L::tile_bytes);
    const yk_tile_in_shared_memory<D, M> stored = {base + own.warp_row * D * 2,
                                                   yk_tile_left_operand_lane_offset<D>()};
    yk_tile_in_registers<D, M> held;
    struct softmax softmax;
    float out[M][D / 8][4];
    yk_tile_clear_registers(out);
    softmax.clear();
    yk_tile_copy_wait();
    __syncthreads();
    if (L::holds) {
        yk_tile_load_to_registers(stored, held);
    }
    for (int s = 0; s < own.end; s += L::keys) {
        if (s + L::keys < own.end) {
            yk_tile_load_keys_and_values<T, D, L::keys>(op, head, s + L::keys, other,
                                                        other + L::tile_bytes);
        }
        if (s < own.warp_end && L::holds) {
            add_stage<T, D, DROP>(arguments, head, t, s, here, held, softmax, out);
        } else if (s < own.warp_end) {
            add_stage<T, D, DROP>(arguments, head, t, s, here, stored, softmax, out);
        }
        const uint32_t worked_on = here;
        here = other;
        other = worked_on;
        yk_tile_copy_wait();
        __syncthreads();
    }
    finish<T, D>(op, head, t, softmax, out, shared + own.warp_row * D * 2);
#endif
}

void yk_cuda_attention_tensor_core_forward(
    struct yk_backend_lane *lane, const struct yk_attention_forward_kernel_arguments *arguments)
{
    const struct yk_attention_op &op = arguments->op;
    const int64_t blocks = op.batch * op.heads * yk_number_ceil_div(op.queries, ROWS);
    yk_tile_dispatch_type_and_head_size(op, [&](auto number, auto size) {
        using T = decltype(number);
        constexpr int d = decltype(size)::value;
        const auto kernel =
            op.dropout.rate > 0 ? attention_kernel<T, d, true> : attention_kernel<T, d, false>;
        yk_tile_launch_kernel(lane, kernel, arguments, blocks, layout<d>::bytes, "attention");
    });
}
