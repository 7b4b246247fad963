/*
 * Attention without tensor cores, for every type and head size. The backward pass has two kernels
 * without atomics, so that results are the same in every run: dK and dV by tiles of keys, dQ by
 * tiles of queries.
 *
 * A tile has 64 queries and 64 keys in fp32, and a block has 256 threads. Thread (y, x) of 16 · 16
 * computes rows 4y to 4y + 3 and columns 4x to 4x + 3 of every tile. Products over the head size
 * use steps of 32 elements. A block computes 64 columns of outputs that are as wide as a head, so
 * that heads may have any size. The blocks of a wider head recompute the same scores.
 */
#include "backend/cuda/attention/attention.cuh"

/* ---- tiles ---- */

enum {
    TILE = 64,
    DEPTH = 32,
    STRIDE = TILE + 4, /* in shared memory; avoids bank conflicts and keeps 16-byte alignment */
    THREADS = 256,
    BLOCKS = 2,           /* at once on a multiprocessor; limits registers */
    AREA = TILE * STRIDE, /* also holds two (DEPTH, TILE) matrices */
};

/* Rows of a head. Rows from `count` on do not exist; they are loaded as zero and not stored. */
template <typename T> struct rows {
    T *at;
    int64_t stride;
    int count;
};

template <typename T>
static __device__ rows<T> rows_of(const void *base, int64_t stride, int64_t sample, int64_t length,
                                  int first, int end, int64_t head, int64_t head_stride)
{
    return {
        yk_attention_head_row_address<T>(base, sample, length, first, stride, head, head_stride),
        stride, min(end - first, static_cast<int>(TILE))};
}

/* Rows from query `first` on of q or dq. */
template <typename T>
static __device__ rows<T> query_rows(const struct yk_attention_op &op,
                                     const struct yk_attention_head &head, const void *base,
                                     int64_t stride, int first)
{
    const int queries = static_cast<int>(op.queries);
    return rows_of<T>(base, stride, head.sample, queries, first, queries, head.head,
                      op.head_stride);
}

/* Rows from query `first` on of out or d_out, whose heads are adjacent. */
template <typename T>
static __device__ rows<T> out_rows(const struct yk_attention_op &op,
                                   const struct yk_attention_head &head, const void *base,
                                   int first)
{
    const int queries = static_cast<int>(op.queries);
    return rows_of<T>(base, op.out_stride, head.sample, queries, first, queries, head.head,
                      op.head_size);
}

/* Rows from key `first` on of k or v. */
template <typename T>
static __device__ rows<T> key_rows(const struct yk_attention_op &op,
                                   const struct yk_attention_head &head, const void *base,
                                   int64_t stride, int first)
{
    return rows_of<T>(base, stride, head.sample, op.keys, first, head.length, head.kv_head,
                      op.head_stride);
}

/* Loads DEPTH columns, from `first` on, of 64 rows as (DEPTH, TILE), without bank conflicts. */
template <typename T>
static __device__ void load_transposed(const rows<T> &rows, int first, int size, float *to)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < TILE * DEPTH / THREADS; i++) {
        const int c = lane % 8 + i % 4 * 8;
        const int r = lane / 8 + (warp + i / 4 * 8) * 4;
        const bool there = r < rows.count && first + c < size;
        to[c * STRIDE + r] = there ? yk_to_float(rows.at[r * rows.stride + first + c]) : 0.0F;
    }
}

/* Loads TILE columns, from `first` on, of 64 rows as (TILE, TILE). */
template <typename T>
static __device__ void load_rows(const rows<T> &rows, int first, int size, float *to)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        const int c = i % TILE;
        const int r = i / TILE;
        const bool there = r < rows.count && first + c < size;
        to[r * STRIDE + c] = there ? yk_to_float(rows.at[r * rows.stride + first + c]) : 0.0F;
    }
}

YK_DEVICE_INLINE void load_four(const float *from, float (&out)[4])
{
    const float4 four = *reinterpret_cast<const float4 *>(from);
    out[0] = four.x;
    out[1] = four.y;
    out[2] = four.z;
    out[3] = four.w;
}

YK_DEVICE_INLINE void multiply_four(const float (&a)[4], const float (&b)[4], float (&to)[4][4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            to[i][j] = fmaf(a[i], b[j], to[i][j]);
        }
    }
}

/* to = a · bᵀ over the head size. */
template <typename T>
static __device__ void multiply_heads(const rows<T> &a, const rows<T> &b, int size, float *area,
                                      float (&to)[4][4])
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    for (int i = 0; i < 16; i++) {
        to[i / 4][i % 4] = 0;
    }
    for (int first = 0; first < size; first += DEPTH) {
        __syncthreads();
        load_transposed(a, first, size, area);
        load_transposed(b, first, size, area + DEPTH * STRIDE);
        __syncthreads();
#pragma unroll 8
        for (int c = 0; c < DEPTH; c++) {
            float left[4];
            float right[4];
            load_four(area + c * STRIDE + 4 * y, left);
            load_four(area + (DEPTH + c) * STRIDE + 4 * x, right);
            multiply_four(left, right, to);
        }
    }
}

/* Loads the operands of a product: each thread's part into `tile`, and 64 columns of rows into
 * `area`. */
template <typename T>
static __device__ void load_product(const float (&part)[4][4], const rows<T> &rows, int column,
                                    int size, float *tile, float *area)
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        *reinterpret_cast<float4 *>(tile + (4 * y + i) * STRIDE + 4 * x) =
            make_float4(part[i][0], part[i][1], part[i][2], part[i][3]);
    }
    load_rows(rows, column, size, area);
    __syncthreads();
}

/* to += tile · area. */
static __device__ void multiply(const float *tile, const float *area, float (&to)[4][4])
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
#pragma unroll 2
    for (int k = 0; k < TILE; k += 4) {
        float left[4][4];
        for (int i = 0; i < 4; i++) {
            load_four(tile + (4 * y + i) * STRIDE + k, left[i]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float column[4] = {left[0][i], left[1][i], left[2][i], left[3][i]};
            float right[4];
            load_four(area + (k + i) * STRIDE + 4 * x, right);
            multiply_four(column, right, to);
        }
    }
}

/* to += tileᵀ · area. */
static __device__ void multiply_tile_transposed(const float *tile, const float *area,
                                                float (&to)[4][4])
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
#pragma unroll 8
    for (int k = 0; k < TILE; k++) {
        float left[4];
        float right[4];
        load_four(tile + k * STRIDE + 4 * y, left);
        load_four(area + k * STRIDE + 4 * x, right);
        multiply_four(left, right, to);
    }
}

/* Writes the thread's part of a tile, with each row multiplied by its scale, to the columns of a
 * head from `column` on. */
template <typename T>
static __device__ void store(const float (&part)[4][4], const float (&scales)[4],
                             const rows<T> &rows, int column, int size)
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int c = column + 4 * x + j;
            if (4 * y + i < rows.count && c < size) {
                rows.at[(4 * y + i) * rows.stride + c] = yk_from_float<T>(part[i][j] * scales[i]);
            }
        }
    }
}

static __device__ void apply_dropout(const struct yk_attention_forward_kernel_arguments &task,
                                     const struct yk_attention_head &head, int t, int s,
                                     float (&numbers)[4])
{
    float factors[4];
    yk_attention_dropout_factors(task, head.sample,
                                 yk_attention_dropout_index(task.op, head, t) + s, factors);
    for (int j = 0; j < 4; j++) {
        numbers[j] *= factors[j];
    }
}

/* Replaces products by tanh(scale · product / softcap), if scores are capped. */
static __device__ void cap(const struct yk_attention_forward_kernel_arguments &task,
                           float (&scores)[4][4])
{
    if (task.op.softcap > 0) {
        for (int i = 0; i < 16; i++) {
            scores[i / 4][i % 4] = tanhf(scores[i / 4][i % 4] * task.cap_scale);
        }
    }
}

/* The queries of a block, and the columns of the head that it computes. */
struct query_tile {
    int64_t place; /* of the head in (B, heads) */
    struct yk_attention_head head;
    int first;
    int begin; /* keys before this one are not visible to any query; a multiple of TILE */
    int end;   /* keys from here on are not visible to any query */
    int queries;
    int size;
    int column;
};

YK_DEVICE_INLINE struct query_tile query_tile_of(const struct yk_attention_op &op)
{
    const int tiles = static_cast<int>((op.queries + TILE - 1) / TILE);
    struct query_tile own;
    own.place = blockIdx.x / tiles;
    own.head = yk_attention_head_make(op, own.place / op.heads, own.place % op.heads);
    own.first = static_cast<int>(blockIdx.x % tiles) * TILE;
    own.queries = static_cast<int>(op.queries);
    own.size = static_cast<int>(op.head_size);
    own.column = static_cast<int>(blockIdx.y) * TILE;
    own.begin = yk_attention_first_visible_key(own.head, own.first) / TILE * TILE;
    own.end = yk_attention_count_visible_keys(own.head, min(own.first + TILE, own.queries) - 1);
    return own;
}

static dim3 grid_of(int64_t heads, int64_t rows, int64_t size)
{
    return dim3(static_cast<unsigned>(heads * yk_number_ceil_div(rows, TILE)),
                yk_block_count(size, TILE));
}

/* ---- forward ---- */

/* Online softmax of one row of scores, which 16 lanes share: replaces the scores by powers of two,
 * updates `highest` and `sum`, and rescales the output so far. The keys from `hidden` to
 * `visible` − 1 are visible. */
static __device__ void exponentiate(float (&scores)[4], int hidden, int visible, float scale,
                                    float &highest, float &sum, float (&out)[4])
{
    const float before = highest;
    for (int j = 0; j < 4; j++) {
        scores[j] = j >= hidden && j < visible ? scores[j] * scale : -INFINITY;
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

/* Writes op.sums if needed, and computes the final factor of the output. */
static __device__ void end_softmax(const struct yk_attention_op &op, int64_t head, int first,
                                   const float (&highest)[4], const float (&sums)[4],
                                   float (&shares)[4])
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        const int t = first + 4 * y + i;
        shares[i] = sums[i] == 0 ? 0.0F : 1.0F / sums[i];
        if (op.log_sum_exp && blockIdx.y == 0 && x == 0 && t < op.queries) {
            op.log_sum_exp[head * op.queries + t] = (highest[i] + log2f(sums[i])) * YK_LN_2;
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    attention_kernel(const struct yk_attention_forward_kernel_arguments arguments)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attention_op &op = arguments.op;
    const struct query_tile own = query_tile_of(op);
    const struct yk_attention_head &head = own.head;
    const int s_mine = threadIdx.x % 16 * 4;
    const int t_mine = own.first + threadIdx.x / 16 * 4;
    const rows<T> q = query_rows<T>(op, head, op.q, op.q_stride, own.first);
    float highest[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    float sums[4] = {};
    float out[4][4] = {};
    float scores[4][4];
    for (int s = own.begin; s < own.end; s += TILE) {
        const rows<T> k = key_rows<T>(op, head, op.k, op.k_stride, s);
        const rows<T> v = key_rows<T>(op, head, op.v, op.v_stride, s);
        multiply_heads(q, k, own.size, area, scores);
        cap(arguments, scores);
        for (int i = 0; i < 4; i++) {
            exponentiate(scores[i], yk_attention_first_visible_key(head, t_mine + i) - s - s_mine,
                         yk_attention_count_visible_keys(head, t_mine + i) - s - s_mine,
                         arguments.power_scale, highest[i], sums[i], out[i]);
            if (op.dropout.rate > 0) {
                apply_dropout(arguments, head, t_mine + i, s + s_mine, scores[i]);
            }
        }
        load_product(scores, v, own.column, own.size, tile, area);
        multiply(tile, area, out);
    }
    float shares[4];
    end_softmax(op, own.place, own.first, highest, sums, shares);
    store(out, shares, out_rows<T>(op, head, op.out, own.first), own.column, own.size);
}

void yk_cuda_attention_simt_forward(struct yk_backend_lane *lane,
                                    const struct yk_attention_forward_kernel_arguments *arguments)
{
    const struct yk_attention_op *op = &arguments->op;
    const dim3 grid = grid_of(op->batch * op->heads, op->queries, op->head_size);
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_dispatch_type(op->type, [&](auto number) {
        attention_kernel<decltype(number)><<<grid, THREADS, 0, stream>>>(*arguments);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "attention");
}

/* ---- backward ---- */

enum {
    FEW_KEYS = 128
};

/* P (after dropout) and dS of the tile of queries from `first` on and keys from `s` on. If
 * `products` is NULL, P ∘ dP instead of dS. */
template <typename T>
static __device__ void differentiate(const struct yk_attention_backward_kernel_arguments &task,
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
    multiply_heads(query_rows<T>(op, head, op.q, op.q_stride, first),
                   key_rows<T>(op, head, op.k, op.k_stride, s), size, area, powers);
    cap(task.forward, powers);
    multiply_heads(out_rows<T>(op, head, task.op.d_out, first),
                   key_rows<T>(op, head, op.v, op.v_stride, s), size, area, d_scores);
    const bool is_capped = op.softcap > 0 && products;
    for (int i = 0; i < 4; i++) {
        const int t = first + 4 * y + i;
        const bool there = t < queries;
        const int hidden = yk_attention_first_visible_key(head, t) - s - 4 * x;
        const int visible = there ? yk_attention_count_visible_keys(head, t) - s - 4 * x : 0;
        const float base = there ? op.log_sum_exp[row + t] * YK_LOG2_E : 0.0F;
        const float product = there && products ? products[row + t] : 0.0F;
        float keep[4] = {1.0F, 1.0F, 1.0F, 1.0F};
        if (op.dropout.rate > 0) {
            apply_dropout(task.forward, head, t, s + 4 * x, keep);
        }
        for (int j = 0; j < 4; j++) {
            const bool sees = j >= hidden && j < visible;
            const float power = sees ? exp2f(powers[i][j] * task.forward.power_scale - base) : 0.0F;
            d_scores[i][j] = sees ? power * (d_scores[i][j] * keep[j] - product) : 0.0F;
            if (is_capped) { /* the derivative of tanh */
                d_scores[i][j] *= 1.0F - powers[i][j] * powers[i][j];
            }
            powers[i][j] = power * keep[j];
        }
    }
}

/* Computes products as the sum of P ∘ dP, which is more exact than the sum of out ∘ d_out if out
 * was rounded to 16 bits. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_products(const struct yk_attention_backward_kernel_arguments arguments)
{
    __shared__ __align__(16) float area[AREA];
    const struct yk_attention_op &op = arguments.forward.op;
    const struct query_tile own = query_tile_of(op);
    float sums[4] = {};
    float powers[4][4];
    float parts[4][4];
    for (int s = own.begin; s < own.end; s += TILE) {
        differentiate<T>(arguments, own.head, nullptr, own.first, s, area, powers, parts);
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
            arguments.products[own.place * own.queries + t] = sums[i];
        }
    }
}

/* dK and dV of a tile of keys, over all queries of the heads that share these keys. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    find_d_keys(const struct yk_attention_backward_kernel_arguments arguments)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attention_op &op = arguments.forward.op;
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
        const struct yk_attention_head head =
            yk_attention_head_make(op, sample, kv_head * group + h);
        if (s >= head.length) {
            break;
        }
        /* From the first tile with a query that attends to key s, to the last query whose window
         * contains a key of the tile. */
        const int end = min(queries, s + TILE + head.back);
        for (int t = max(s - head.shift, 0) / TILE * TILE; t < end; t += TILE) {
            differentiate<T>(arguments, head, arguments.products, t, s, area, powers, d_scores);
            load_product(powers, out_rows<T>(op, head, arguments.op.d_out, t), column, size, tile,
                         area);
            multiply_tile_transposed(tile, area, dv);
            load_product(d_scores, query_rows<T>(op, head, op.q, op.q_stride, t), column, size,
                         tile, area);
            multiply_tile_transposed(tile, area, dk);
        }
    }
    const float ones[4] = {1.0F, 1.0F, 1.0F, 1.0F};
    const float scales[4] = {op.scale, op.scale, op.scale, op.scale};
    store(dk, scales,
          rows_of<T>(arguments.op.dk, arguments.op.dk_stride, sample, keys, s, keys, kv_head,
                     op.head_stride),
          column, size);
    store(dv, ones,
          rows_of<T>(arguments.op.dv, arguments.op.dv_stride, sample, keys, s, keys, kv_head,
                     op.head_stride),
          column, size);
}

/* dQ of a tile of queries. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_d_queries(const struct yk_attention_backward_kernel_arguments arguments)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attention_op &op = arguments.forward.op;
    const struct query_tile own = query_tile_of(op);
    const struct yk_attention_head &head = own.head;
    float dq[4][4] = {};
    float powers[4][4];
    float d_scores[4][4];
    for (int s = own.begin; s < own.end; s += TILE) {
        differentiate<T>(arguments, head, arguments.products, own.first, s, area, powers, d_scores);
        load_product(d_scores, key_rows<T>(op, head, op.k, op.k_stride, s), own.column, own.size,
                     tile, area);
        multiply(tile, area, dq);
    }
    const float scales[4] = {op.scale, op.scale, op.scale, op.scale};
    store(dq, scales, query_rows<T>(op, head, arguments.op.dq, arguments.op.dq_stride, own.first),
          own.column, own.size);
}

void yk_cuda_attention_simt_backward(struct yk_backend_lane *lane,
                                     const struct yk_attention_backward_kernel_arguments *arguments)
{
    const struct yk_attention_op *op = &arguments->forward.op;
    const dim3 key_grid = grid_of(op->batch * op->kv_heads, op->keys, op->head_size);
    const dim3 query_grid = grid_of(op->batch * op->heads, op->queries, op->head_size);
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        if (query_grid.x > 0 && sizeof(T) < sizeof(float) && op->keys <= FEW_KEYS) {
            find_products<T><<<query_grid.x, THREADS, 0, stream>>>(*arguments);
        }
        if (key_grid.x > 0) {
            find_d_keys<T><<<key_grid, THREADS, 0, stream>>>(*arguments);
        }
        if (query_grid.x > 0) {
            find_d_queries<T><<<query_grid, THREADS, 0, stream>>>(*arguments);
        }
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "attention_backward");
}
