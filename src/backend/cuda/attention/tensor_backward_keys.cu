/*
 * Attention backward by tensor cores: dK and dV. Scores and all that comes of them are turned here,
 * rows being keys, so that P and dS are left sides as they come out of the product before.
 */
#include "backend/cuda/attention/tensor_backward.cuh"

/* A stage of queries t …: rows of q and of d_out, then sums and products. */
template <typename T, int D>
static __device__ __forceinline__ void load_queries(const struct yk_attention_backward_task &task,
                                                    const struct yk_attention_head &head, int t,
                                                    uint32_t to)
{
    constexpr int passing = layout<D>::passing;
    constexpr int tile_bytes = layout<D>::tile_bytes;
    const struct yk_attention_op &op = task.forward.op;
    const int left = static_cast<int>(op.queries) - t;
    yk_tile_load_async<T, D, passing>(
        to, row_of<T>(op.q, head.sample, op.queries, t, op.q_stride, head.head, D), op.q_stride,
        left);
    yk_tile_load_async<T, D, passing>(
        to + tile_bytes,
        row_of<T>(task.d_out, head.sample, op.queries, t, op.out_stride, head.head, D),
        op.out_stride, left);
    const int at = threadIdx.x % passing;
    const float *from = threadIdx.x < passing ? op.sums : task.products;
    if (threadIdx.x < 2 * passing) {
        from += (head.sample * op.heads + head.head) * op.queries + t;
        yk_copy_word_async(to + 2 * tile_bytes + threadIdx.x * 4, from + (at < left ? at : 0),
                           at < left);
    }
    yk_copy_async_commit();
}

/*
 * From scores and dP of keys s … (rows) and queries t … (columns): P, with what dropout does to it,
 * and dS. `sums` and `products` are those of query t.
 */
template <bool DROP, int M>
static __device__ __forceinline__ void
differentiate_transposed(const struct yk_attention_task &task, const struct yk_attention_head &head,
                         int s, int t, bool whole, const float *sums, const float *products,
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
                yk_tile_dropout_factors_transposed(task, head, t + n * 8, s + m * 16, factors);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int j = i % 2;
                const int key = s + m * 16 + i / 2 * 8 + lane / 4;
                float power = yk_exp2(fmaf(scores[m][n][i], task.power_scale, -base[j]));
                if (!whole && key >= yk_attention_visible_keys(head, t + column + j)) {
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
static __device__ __forceinline__ void
add_stage(const struct yk_attention_task &task, const struct yk_attention_head &head, int s, int t,
          const unsigned char *stage, const yk_tile_in_shared<D, layout<D>::m> &k,
          const yk_tile_in_shared<D, layout<D>::m> &v, float (&dk)[layout<D>::m][D / 8][4],
          float (&dv)[layout<D>::m][D / 8][4])
{
    using L = layout<D>;
    const int queries = static_cast<int>(task.op.queries);
    const float *sums = reinterpret_cast<const float *>(stage + 2 * L::tile_bytes);
#pragma unroll 1
    for (int c = 0; c < L::passing; c += SUB) {
        const int end = min(t + c + SUB, queries);
        if (t + c >= queries || s >= yk_attention_visible_keys(head, end - 1)) {
            continue;
        }
        const uint32_t rows = yk_shared_address(stage) + c * D * 2;
        float scores[L::m][N][4];
        float d_scores[L::m][N][4];
        uint32_t left[L::m][N / 2][4];
        uint32_t d_left[L::m][N / 2][4];
        yk_tile_scores<T, D>(k, rows, scores);
        yk_tile_scores<T, D>(v, rows + L::tile_bytes, d_scores);
        const bool whole = s + L::warp_rows <= yk_attention_visible_keys(head, t + c);
        differentiate_transposed<DROP>(task, head, s, t + c, whole, sums + c, sums + L::passing + c,
                                       scores, d_scores);
        yk_tile_pack<T>(scores, left);
        yk_tile_pack<T>(d_scores, d_left);
        yk_tile_add<T, D>(left, rows + L::tile_bytes, dv);
        yk_tile_add<T, D>(d_left, rows, dk);
    }
}

/* All queries of the group's heads that see a key of the block's, from `first`. */
template <typename T, int D, bool DROP>
static __device__ __forceinline__ void
add_all(const struct yk_attention_backward_task &task, struct yk_attention_head head, int first,
        unsigned char *shared, float (&dk)[layout<D>::m][D / 8][4],
        float (&dv)[layout<D>::m][D / 8][4])
{
    using L = layout<D>;
    const struct yk_attention_op &op = task.forward.op;
    const int group = static_cast<int>(op.heads / op.kv_heads);
    const int queries = static_cast<int>(op.queries);
    const int warp_row = threadIdx.x / 32 * L::warp_rows;
    const int first_query = max(first - head.shift, 0) / L::passing * L::passing;
    const uint32_t base = yk_shared_address(shared);
    const uint32_t warp_rows = base + warp_row * D * 2;
    const yk_tile_in_shared<D, L::m> k = {warp_rows, yk_tile_lane_left<D>()};
    const yk_tile_in_shared<D, L::m> v = {warp_rows + L::own_bytes, yk_tile_lane_left<D>()};
    int here = 2 * L::own_bytes;
    int other = here + L::stage_bytes;
    if (first >= head.length || first_query >= queries) {
        return;
    }
    load_keys<T, D, L::rows>(op, head, first, base, base + L::own_bytes);
    load_queries<T, D>(task, head, first_query, base + here);
    for (int h = 0; h < group; h++) {
        for (int t = first_query; t < queries; t += L::passing) {
            yk_copy_async_wait();
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
static __global__ void __launch_bounds__(YK_TENSOR_THREADS, 2)
    find_d_keys(const struct yk_attention_backward_task task)
{
#if YK_HAS_TENSOR_CORES
    using L = layout<D>;
    const struct yk_attention_op &op = task.forward.op;
    const unsigned kv_heads = static_cast<unsigned>(op.batch * op.kv_heads);
    const unsigned place = blockIdx.x % kv_heads;
    const int64_t sample = place / op.kv_heads;
    const int64_t kv_head = place % op.kv_heads;
    /* The first keys, which most queries see, begin first. */
    const int first = static_cast<int>(blockIdx.x / kv_heads) * L::rows;
    extern __shared__ __align__(128) unsigned char shared[]; /* k and v, then stages of queries */
    float dk[L::m][D / 8][4];
    float dv[L::m][D / 8][4];
    yk_tile_clear(dk);
    yk_tile_clear(dv);
    add_all<T, D, DROP>(task, yk_attention_head_of(op, sample, kv_head * (op.heads / op.kv_heads)),
                        first, shared, dk, dv);
    /* A warp's rows of k and v are its own: nobody else reads them any more. */
    const int warp_row = threadIdx.x / 32 * L::warp_rows;
    const int left = static_cast<int>(op.keys) - first - warp_row;
    const int64_t row = first + warp_row;
    unsigned char *scratch = shared + warp_row * D * 2;
    store_rows<T, D>(dk, op.scale, scratch,
                     static_cast<T *>(task.dk) +
                         yk_attention_row_offset(sample, op.keys, row, task.dk_stride, kv_head, D),
                     task.dk_stride, left);
    store_rows<T, D>(dv, 1.0F, scratch + L::own_bytes,
                     static_cast<T *>(task.dv) +
                         yk_attention_row_offset(sample, op.keys, row, task.dv_stride, kv_head, D),
                     task.dv_stride, left);
#endif
}

bool yk_cuda_attention_tensor_backward_keys(struct yk_backend_lane *lane,
                                            const struct yk_attention_backward_task *task)
{
    const struct yk_attention_op &op = task->forward.op;
    return yk_tile_with_type(op, [&](auto number, auto size) {
        using T = decltype(number);
        constexpr int d = decltype(size)::value;
        const backward_kernel kernel =
            op.dropout.rate > 0 ? find_d_keys<T, d, true> : find_d_keys<T, d, false>;
        return launch_kernel<d>(lane, task, kernel, op.batch * op.kv_heads, op.keys);
    });
}
