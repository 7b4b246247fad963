/*
 * Attention backward by tensor cores: dQ, after dK and dV.
 */
#include "backend/cuda/attention/tensor_backward.cuh"

/* dS of queries t … (rows) and keys s … (columns) from scores and dP. */
template <int M>
static __device__ __forceinline__ void
differentiate(float power_scale, const struct yk_attention_head &head, int t, int s, bool whole,
              const float (&bases)[M][2], const float (&products)[M][2],
              const float (&scores)[M][N][4], float (&d_scores)[M][N][4])
{
#pragma unroll
    for (int m = 0; m < M; m++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int visible = yk_tile_visible_keys(head, t + m * 16 + r * 8, s);
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

/* The block's rows of q and d_out from query `first`, and the first stage of keys. */
template <typename T, int D>
static __device__ __forceinline__ void load_first(const struct yk_attention_backward_task &task,
                                                  const struct yk_attention_head &head, int first,
                                                  uint32_t base)
{
    using L = layout<D>;
    const struct yk_attention_op &op = task.forward.op;
    const int left = static_cast<int>(op.queries) - first;
    yk_tile_load_async<T, D, L::rows>(
        base, row_of<T>(op.q, head.sample, op.queries, first, op.q_stride, head.head, D),
        op.q_stride, left);
    yk_tile_load_async<T, D, L::rows>(
        base + L::own_bytes,
        row_of<T>(task.d_out, head.sample, op.queries, first, op.out_stride, head.head, D),
        op.out_stride, left);
    load_keys<T, D, L::passing>(op, head, 0, base + 2 * L::own_bytes,
                                base + 2 * L::own_bytes + L::tile_bytes);
}

/* What stays with a warp: its rows of q and d_out, and what a lane knows of its own. */
template <int D> struct resident_rows {
    yk_tile_in_registers<D, layout<D>::m> q;
    yk_tile_in_registers<D, layout<D>::m> d_out;
    float bases[layout<D>::m][2]; /* sums in units of log2 e */
    float products[layout<D>::m][2];
};

template <int D>
static __device__ __forceinline__ void load_own(const struct yk_attention_backward_task &task,
                                                const struct yk_attention_head &head, int t,
                                                uint32_t rows, resident_rows<D> &out)
{
    using L = layout<D>;
    const struct yk_attention_op &op = task.forward.op;
    const uint32_t lane = yk_tile_lane_left<D>();
#pragma unroll
    for (int i = 0; i < L::m * 2; i++) {
        const int row = t + i * 8 + threadIdx.x % 32 / 4;
        const int64_t at = (head.sample * op.heads + head.head) * op.queries + row;
        out.bases[i / 2][i % 2] = row < op.queries ? op.sums[at] * YK_LOG2_E : 0.0F;
        out.products[i / 2][i % 2] = row < op.queries ? task.products[at] : 0.0F;
    }
    yk_tile_to_registers(yk_tile_in_shared<D, L::m>{rows, lane}, out.q);
    yk_tile_to_registers(yk_tile_in_shared<D, L::m>{rows + L::own_bytes, lane}, out.d_out);
}

/* What the keys s … of a stage, of which the warp sees those before `end`, add to dQ. */
template <typename T, int D, bool DROP>
static __device__ __forceinline__ void
add_stage(const struct yk_attention_task &task, const struct yk_attention_head &head, int t, int s,
          int end, uint32_t stage, const resident_rows<D> &held,
          float (&dq)[layout<D>::m][D / 8][4])
{
    using L = layout<D>;
#pragma unroll 1
    for (int c = 0; c < L::passing && s + c < end; c += SUB) {
        const uint32_t rows = stage + c * D * 2;
        float scores[L::m][N][4];
        float d_scores[L::m][N][4];
        uint32_t left[L::m][N / 2][4];
        yk_tile_scores<T, D>(held.q, rows, scores);
        yk_tile_scores<T, D>(held.d_out, rows + L::tile_bytes, d_scores);
        if (DROP) {
            yk_tile_dropout(task, head, t, s + c, d_scores);
        }
        const bool whole = s + c + SUB <= yk_attention_visible_keys(head, t);
        differentiate(task.power_scale, head, t, s + c, whole, held.bases, held.products, scores,
                      d_scores);
        yk_tile_pack<T>(d_scores, left);
        yk_tile_add<T, D>(left, rows, dq);
    }
}

template <typename T, int D, bool DROP>
static __global__ void __launch_bounds__(YK_TENSOR_THREADS, 2)
    find_d_queries(const struct yk_attention_backward_task task)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    extern __shared__ __align__(128) unsigned char shared[];
    const struct yk_attention_op &op = task.forward.op;
    const int queries = static_cast<int>(op.queries);
    const struct yk_tile_queries own = yk_tile_queries_of<L::rows, L::warp_rows>(op);
    const struct yk_attention_head &head = own.head;
    const int t = own.t;
    const uint32_t base = yk_shared_address(shared);
    uint32_t here = base + 2 * L::own_bytes;
    uint32_t other = here + L::stage_bytes;
    resident_rows<D> held;
    float dq[L::m][D / 8][4];
    load_first<T, D>(task, head, own.first, base);
    yk_tile_clear(dq);
    yk_copy_async_wait();
    __syncthreads();
    load_own(task, head, t, base + own.warp_row * D * 2, held);
    for (int s = 0; s < own.end; s += L::passing) {
        if (s + L::passing < own.end) {
            load_keys<T, D, L::passing>(op, head, s + L::passing, other, other + L::tile_bytes);
        }
        add_stage<T, D, DROP>(task.forward, head, t, s, own.warp_end, here, held, dq);
        const uint32_t worked_on = here;
        here = other;
        other = worked_on;
        yk_copy_async_wait();
        __syncthreads();
    }
    store_rows<T, D>(dq, op.scale, shared + own.warp_row * D * 2,
                     static_cast<T *>(task.dq) + yk_attention_row_offset(head.sample, queries, t,
                                                                         task.dq_stride, head.head,
                                                                         D),
                     task.dq_stride, queries - t);
#endif
}

void yk_cuda_attention_tensor_backward(struct yk_backend_lane *lane,
                                       const struct yk_attention_backward_task *task)
{
    const struct yk_attention_op &op = task->forward.op;
    if (!yk_cuda_attention_tensor_backward_keys(lane, task)) {
        return;
    }
    yk_tile_with_type(op, [&](auto number, auto size) {
        using T = decltype(number);
        constexpr int d = decltype(size)::value;
        const bool apply_dropout = op.dropout.rate > 0;
        return launch_kernel<d>(
            lane, task, apply_dropout ? find_d_queries<T, d, true> : find_d_queries<T, d, false>,
            op.batch * op.heads, op.queries);
    });
}
