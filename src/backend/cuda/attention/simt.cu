/*
 * Attention without tensor cores.
 */
#include "backend/cuda/attention/simt.cuh"

/* One row of a tile of scores becomes powers, its sum and highest are carried on and the output so
 * far is scaled anew. 16 lanes have the row. */
static __device__ void exponentiate(float (&scores)[4], int visible, float scale, float &highest,
                                    float &sum, float (&out)[4])
{
    const float before = highest;
    for (int j = 0; j < 4; j++) {
        scores[j] = j < visible ? scores[j] * scale : -INFINITY;
        highest = fmaxf(highest, scores[j]);
    }
    for (int step = 8; step > 0; step /= 2) {
        highest = fmaxf(highest, __shfl_xor_sync(0xffffffffU, highest, step));
    }
    const float base = highest == -INFINITY ? 0.0F : highest;
    const float worth = exp2f(before - base);
    float more = 0;
    for (int j = 0; j < 4; j++) {
        scores[j] = exp2f(scores[j] - base);
        more += scores[j];
        out[j] *= worth;
    }
    for (int step = 8; step > 0; step /= 2) {
        more += __shfl_xor_sync(0xffffffffU, more, step);
    }
    sum = sum * worth + more;
}

/* sums where wanted, and what the output is to be multiplied by. */
static __device__ void end_softmax(const struct yk_attention_op &op, int64_t head, int first,
                                   const float (&highest)[4], const float (&sums)[4],
                                   float (&shares)[4])
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        const int t = first + 4 * y + i;
        shares[i] = sums[i] == 0 ? 0.0F : 1.0F / sums[i];
        if (op.sums && blockIdx.y == 0 && x == 0 && t < op.queries) {
            op.sums[head * op.queries + t] = (highest[i] + log2f(sums[i])) * YK_LN_2;
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    attention_kernel(const struct yk_attention_task task)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attention_op &op = task.op;
    const struct query_tile own = query_tile_of(op);
    const struct yk_attention_head &head = own.head;
    const int s_mine = threadIdx.x % 16 * 4;
    const int t_mine = own.first + threadIdx.x / 16 * 4;
    const rows<T> q = rows_of<T>(op.q, op.q_stride, head.sample, own.queries, own.first,
                                 own.queries, head.head, own.size);
    float highest[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    float sums[4] = {};
    float out[4][4] = {};
    float scores[4][4];
    for (int s = 0; s < own.end; s += TILE) {
        const rows<T> k = rows_of<T>(op.k, op.k_stride, head.sample, op.keys, s, head.length,
                                     head.kv_head, own.size);
        const rows<T> v = rows_of<T>(op.v, op.v_stride, head.sample, op.keys, s, head.length,
                                     head.kv_head, own.size);
        multiply_heads(q, k, own.size, area, scores);
        for (int i = 0; i < 4; i++) {
            exponentiate(scores[i], yk_attention_visible_keys(head, t_mine + i) - s - s_mine,
                         task.power_scale, highest[i], sums[i], out[i]);
            if (op.dropout.rate > 0) {
                apply_dropout(task, head, t_mine + i, s + s_mine, scores[i]);
            }
        }
        load_product(scores, v, own.column, own.size, tile, area);
        multiply(tile, area, out);
    }
    float shares[4];
    end_softmax(op, own.place, own.first, highest, sums, shares);
    store(out, shares,
          static_cast<T *>(op.out) + yk_attention_row_offset(head.sample, own.queries, own.first,
                                                             op.out_stride, head.head, own.size),
          op.out_stride, own.queries - own.first, own.column, own.size);
}

void yk_cuda_attention_simt(struct yk_backend_lane *lane, const struct yk_attention_task *task)
{
    const struct yk_attention_op *op = &task->op;
    const dim3 grid = grid_of(op->batch * op->heads, op->queries, op->head_size);
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_with_type(op->type, [&](auto number) {
        attention_kernel<decltype(number)><<<grid, THREADS, 0, stream>>>(*task);
    });
    yk_cuda_lane_check(lane, cudaGetLastError(), "attention");
}
