/*
 * Attention backward without tensor cores, in two kernels, so that no sum depends on who comes
 * first: dK and dV by tiles of keys, dQ by tiles of queries.
 */
#include "backend/cuda/attention/simt.cuh"

enum {
    FEW_KEYS = 128
};

/* P (with what dropout does to it) and dS of the tile of queries from `first` and keys from `s`;
 * without products, P ∘ dP instead of dS. */
template <typename T>
static __device__ void differentiate(const struct yk_attention_backward_task &task,
                                     const struct yk_attention_head &head, const float *products,
                                     int first, int s, float *area, float (&powers)[4][4],
                                     float (&d_scores)[4][4])
{
    const struct yk_attention_op &op = task.forward.op;
    const int queries = static_cast<int>(op.queries);
    const int size = static_cast<int>(op.head_size);
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    const int64_t row = (head.sample * op.heads + head.head) * op.queries;
    multiply_heads(
        rows_of<T>(op.q, op.q_stride, head.sample, queries, first, queries, head.head, size),
        rows_of<T>(op.k, op.k_stride, head.sample, op.keys, s, head.length, head.kv_head, size),
        size, area, powers);
    multiply_heads(
        rows_of<T>(task.d_out, op.out_stride, head.sample, queries, first, queries, head.head,
                   size),
        rows_of<T>(op.v, op.v_stride, head.sample, op.keys, s, head.length, head.kv_head, size),
        size, area, d_scores);
    for (int i = 0; i < 4; i++) {
        const int t = first + 4 * y + i;
        const bool there = t < queries;
        const int visible = there ? yk_attention_visible_keys(head, t) - s - 4 * x : 0;
        const float base = there ? op.sums[row + t] * YK_LOG2_E : 0.0F;
        const float product = there && products ? products[row + t] : 0.0F;
        float keep[4] = {1.0F, 1.0F, 1.0F, 1.0F};
        if (op.dropout.rate > 0) {
            apply_dropout(task.forward, head, t, s + 4 * x, keep);
        }
        for (int j = 0; j < 4; j++) {
            const float power =
                j < visible ? exp2f(powers[i][j] * task.forward.power_scale - base) : 0.0F;
            d_scores[i][j] = j < visible ? power * (d_scores[i][j] * keep[j] - product) : 0.0F;
            powers[i][j] = power * keep[j];
        }
    }
}

/* Products as the sum of P ∘ dP: better than that of out ∘ d_out where out was rounded to 16 bits.
 */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_products(const struct yk_attention_backward_task task)
{
    __shared__ __align__(16) float area[AREA];
    const struct yk_attention_op &op = task.forward.op;
    const struct query_tile own = query_tile_of(op);
    float sums[4] = {};
    float powers[4][4];
    float parts[4][4];
    for (int s = 0; s < own.end; s += TILE) {
        differentiate<T>(task, own.head, nullptr, own.first, s, area, powers, parts);
        for (int i = 0; i < 16; i++) {
            sums[i / 4] += parts[i / 4][i % 4];
        }
    }
    for (int i = 0; i < 4; i++) {
        const int t = own.first + threadIdx.x / 16 * 4 + i;
        for (int step = 8; step > 0; step /= 2) {
            sums[i] += __shfl_xor_sync(0xffffffffU, sums[i], step);
        }
        if (threadIdx.x % 16 == 0 && t < own.queries) {
            task.products[own.place * own.queries + t] = sums[i];
        }
    }
}

/* dK and dV of a tile of keys, from all queries of all heads that look at it. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_d_keys(const struct yk_attention_backward_task task)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attention_op &op = task.forward.op;
    const int tiles = static_cast<int>((op.keys + TILE - 1) / TILE);
    const int64_t place = blockIdx.x / tiles;
    const int64_t sample = place / op.kv_heads;
    const int64_t kv_head = place % op.kv_heads;
    const int s = static_cast<int>(blockIdx.x % tiles) * TILE;
    const int group = static_cast<int>(op.heads / op.kv_heads);
    const int queries = static_cast<int>(op.queries);
    const int keys = static_cast<int>(op.keys);
    const int size = static_cast<int>(op.head_size);
    const int column = static_cast<int>(blockIdx.y) * TILE;
    float dk[4][4] = {};
    float dv[4][4] = {};
    float powers[4][4];
    float d_scores[4][4];
    for (int h = 0; h < group; h++) {
        const struct yk_attention_head head = yk_attention_head_of(op, sample, kv_head * group + h);
        if (s >= head.length) {
            break;
        }
        /* The first tile with a query that sees key s. */
        for (int t = max(s - head.shift, 0) / TILE * TILE; t < queries; t += TILE) {
            differentiate<T>(task, head, task.products, t, s, area, powers, d_scores);
            load_product(
                powers,
                rows_of<T>(task.d_out, op.out_stride, sample, queries, t, queries, head.head, size),
                column, size, tile, area);
            multiply_tile_transposed(tile, area, dv);
            load_product(
                d_scores,
                rows_of<T>(op.q, op.q_stride, sample, queries, t, queries, head.head, size), column,
                size, tile, area);
            multiply_tile_transposed(tile, area, dk);
        }
    }
    const float ones[4] = {1.0F, 1.0F, 1.0F, 1.0F};
    const float scales[4] = {op.scale, op.scale, op.scale, op.scale};
    store(dk, scales,
          static_cast<T *>(task.dk) +
              yk_attention_row_offset(sample, keys, s, task.dk_stride, kv_head, size),
          task.dk_stride, keys - s, column, size);
    store(dv, ones,
          static_cast<T *>(task.dv) +
              yk_attention_row_offset(sample, keys, s, task.dv_stride, kv_head, size),
          task.dv_stride, keys - s, column, size);
}

/* dQ of a tile of queries. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_d_queries(const struct yk_attention_backward_task task)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attention_op &op = task.forward.op;
    const struct query_tile own = query_tile_of(op);
    const struct yk_attention_head &head = own.head;
    float dq[4][4] = {};
    float powers[4][4];
    float d_scores[4][4];
    for (int s = 0; s < own.end; s += TILE) {
        differentiate<T>(task, head, task.products, own.first, s, area, powers, d_scores);
        load_product(d_scores,
                     rows_of<T>(op.k, op.k_stride, head.sample, op.keys, s, head.length,
                                head.kv_head, own.size),
                     own.column, own.size, tile, area);
        multiply(tile, area, dq);
    }
    const float scales[4] = {op.scale, op.scale, op.scale, op.scale};
    store(dq, scales,
          static_cast<T *>(task.dq) + yk_attention_row_offset(head.sample, own.queries, own.first,
                                                              task.dq_stride, head.head, own.size),
          task.dq_stride, own.queries - own.first, own.column, own.size);
}

void yk_cuda_attention_simt_backward(struct yk_backend_lane *lane,
                                     const struct yk_attention_backward_task *task)
{
    const struct yk_attention_op *op = &task->forward.op;
    const dim3 key_grid = grid_of(op->batch * op->kv_heads, op->keys, op->head_size);
    const dim3 query_grid = grid_of(op->batch * op->heads, op->queries, op->head_size);
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_with_type(op->type, [&](auto number) {
        using T = decltype(number);
        if (query_grid.x > 0 && sizeof(T) < sizeof(float) && op->keys <= FEW_KEYS) {
            find_products<T><<<query_grid.x, THREADS, 0, stream>>>(*task);
        }
        if (key_grid.x > 0) {
            find_d_keys<T><<<key_grid, THREADS, 0, stream>>>(*task);
        }
        if (query_grid.x > 0) {
            find_d_queries<T><<<query_grid, THREADS, 0, stream>>>(*task);
        }
    });
    yk_cuda_lane_check(lane, cudaGetLastError(), "attention_backward");
}
