/*
 * Attention without tensor cores, for any type and size: tiles of 64 queries and 64 keys in fp32, a
 * block of 256 threads for each. Thread (y, x) of 16 · 16 has rows 4y … 4y + 3 and columns 4x …
 * 4x + 3 of every tile.
 *
 * Products over the head's size are taken in steps of 32 numbers. Of what is as wide as a head a
 * block finds 64 columns, so that heads may have any size; the blocks of a wider head find the same
 * scores once more.
 */
#include "backend/cuda/attend.cuh"

enum {
    TILE = 64,
    DEPTH = 32,
    STRIDE = TILE + 4, /* of tiles in shared memory: spreads rows over banks, keeps 16 bytes */
    THREADS = 256,
    AREA = TILE * STRIDE, /* also room for two of (DEPTH, TILE) */
};

/* Rows of a head: those from `count` on are taken as zero. */
template <typename T> struct rows {
    const T *from;
    int64_t stride;
    int count;
};

template <typename T>
static __device__ rows<T> rows_of(const void *base, int64_t stride, int64_t sample, int64_t length,
                                  int first, int end, int64_t head, int64_t size)
{
    return {static_cast<const T *>(base) + yk_attend_row(sample, length, first, stride, head, size),
            stride, min(end - first, static_cast<int>(TILE))};
}

/* Columns `first` … of 64 rows as (DEPTH, TILE). The lanes of a warp write to 32 banks. */
template <typename T>
static __device__ void bring_turned(const rows<T> &rows, int first, int size, float *to)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < TILE * DEPTH / THREADS; i++) {
        const int c = lane % 8 + i % 4 * 8;
        const int r = lane / 8 + (warp + i / 4 * 8) * 4;
        const bool there = r < rows.count && first + c < size;
        to[c * STRIDE + r] = there ? yk_load(rows.from[r * rows.stride + first + c]) : 0.0F;
    }
}

/* Columns `first` … of 64 rows as (TILE, TILE). */
template <typename T>
static __device__ void bring_rows(const rows<T> &rows, int first, int size, float *to)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        const int c = i % TILE;
        const int r = i / TILE;
        const bool there = r < rows.count && first + c < size;
        to[r * STRIDE + c] = there ? yk_load(rows.from[r * rows.stride + first + c]) : 0.0F;
    }
}

static __device__ __forceinline__ void load_four(const float *from, float (&out)[4])
{
    const float4 four = *reinterpret_cast<const float4 *>(from);
    out[0] = four.x;
    out[1] = four.y;
    out[2] = four.z;
    out[3] = four.w;
}

static __device__ __forceinline__ void multiply_four(const float (&a)[4], const float (&b)[4],
                                                     float (&to)[4][4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            to[i][j] = fmaf(a[i], b[j], to[i][j]);
        }
    }
}

/* to = a bᵀ over the whole size of a head. */
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
        bring_turned(a, first, size, area);
        bring_turned(b, first, size, area + DEPTH * STRIDE);
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

/* Brings (64, 64) of numbers for a product: each thread's part of the tile, and rows. */
template <typename T>
static __device__ void bring_product(const float (&part)[4][4], const rows<T> &rows, int column,
                                     int size, float *tile, float *area)
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        *reinterpret_cast<float4 *>(tile + (4 * y + i) * STRIDE + 4 * x) =
            make_float4(part[i][0], part[i][1], part[i][2], part[i][3]);
    }
    bring_rows(rows, column, size, area);
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
static __device__ void multiply_tile_turned(const float *tile, const float *area, float (&to)[4][4])
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

/* Rows 4y … of `end − first` there are, columns 4x … from `column` on of `size`. */
template <typename T>
static __device__ void store(const float (&part)[4][4], const float (&scales)[4], T *to,
                             int64_t stride, int rows, int column, int size)
{
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int c = column + 4 * x + j;
            if (4 * y + i < rows && c < size) {
                to[(4 * y + i) * stride + c] = yk_store<T>(part[i][j] * scales[i]);
            }
        }
    }
}

/* One row of a tile of scores becomes powers, its sum and highest are carried on and the output so
 * far is scaled anew. 16 lanes have the row. */
static __device__ void exponentiate(float (&scores)[4], int seen, float scale, float &highest,
                                    float &sum, float (&out)[4])
{
    const float before = highest;
    for (int j = 0; j < 4; j++) {
        scores[j] = j < seen ? scores[j] * scale : -INFINITY;
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

static __device__ void drop(const struct yk_attend_task &task, const struct yk_attend_head &head,
                            int t, int s, float (&numbers)[4])
{
    float factors[4];
    yk_attend_factors(task, head.sample, yk_attend_place(task.op, head, t) + s, factors);
    for (int j = 0; j < 4; j++) {
        numbers[j] *= factors[j];
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) attend(const struct yk_attend_task task)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attend &op = task.op;
    const int tiles = static_cast<int>((op.queries + TILE - 1) / TILE);
    const int64_t place = blockIdx.x / tiles;
    const struct yk_attend_head head = yk_attend_head_of(op, place / op.heads, place % op.heads);
    const int first = static_cast<int>(blockIdx.x % tiles) * TILE;
    const int queries = static_cast<int>(op.queries);
    const int size = static_cast<int>(op.head_size);
    const int column = static_cast<int>(blockIdx.y) * TILE;
    const int x = threadIdx.x % 16;
    const int y = threadIdx.x / 16;
    const rows<T> q =
        rows_of<T>(op.q, op.q_stride, head.sample, queries, first, queries, head.head, size);
    float highest[4];
    float sums[4];
    float out[4][4];
    float scores[4][4];
    for (int i = 0; i < 4; i++) {
        highest[i] = -INFINITY;
        sums[i] = 0;
        for (int j = 0; j < 4; j++) {
            out[i][j] = 0;
        }
    }
    const int end = yk_attend_seen(head, min(first + TILE, queries) - 1);
    for (int s = 0; s < end; s += TILE) {
        const rows<T> k =
            rows_of<T>(op.k, op.k_stride, head.sample, op.keys, s, head.length, head.kv_head, size);
        const rows<T> v =
            rows_of<T>(op.v, op.v_stride, head.sample, op.keys, s, head.length, head.kv_head, size);
        multiply_heads(q, k, size, area, scores);
        for (int i = 0; i < 4; i++) {
            const int t = first + 4 * y + i;
            exponentiate(scores[i], yk_attend_seen(head, t) - s - 4 * x, task.power_scale,
                         highest[i], sums[i], out[i]);
            if (op.dropout.rate > 0) {
                drop(task, head, t, s + 4 * x, scores[i]);
            }
        }
        bring_product(scores, v, column, size, tile, area);
        multiply(tile, area, out);
    }
    float shares[4];
    for (int i = 0; i < 4; i++) {
        const int t = first + 4 * y + i;
        shares[i] = sums[i] == 0 ? 0.0F : 1.0F / sums[i];
        if (op.sums && column == 0 && x == 0 && t < queries) {
            op.sums[place * queries + t] = (highest[i] + log2f(sums[i])) * YK_LN_2;
        }
    }
    store(out, shares,
          static_cast<T *>(op.out) +
              yk_attend_row(head.sample, queries, first, op.out_stride, head.head, size),
          op.out_stride, queries - first, column, size);
}

/* P (with what dropout does to it) and dS of the tile of queries from `first` and keys from `s`. */
template <typename T>
static __device__ void differentiate(const struct yk_attend_back_task &task,
                                     const struct yk_attend_head &head, int first, int s,
                                     float *area, float (&powers)[4][4], float (&d_scores)[4][4])
{
    const struct yk_attend &op = task.forward.op;
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
        const int seen = there ? yk_attend_seen(head, t) - s - 4 * x : 0;
        const float base = there ? op.sums[row + t] * YK_LOG2_E : 0.0F;
        const float product = there ? task.products[row + t] : 0.0F;
        float keep[4] = {1.0F, 1.0F, 1.0F, 1.0F};
        if (op.dropout.rate > 0) {
            drop(task.forward, head, t, s + 4 * x, keep);
        }
        for (int j = 0; j < 4; j++) {
            const float power =
                j < seen ? exp2f(powers[i][j] * task.forward.power_scale - base) : 0.0F;
            d_scores[i][j] = j < seen ? power * (d_scores[i][j] * keep[j] - product) : 0.0F;
            powers[i][j] = power * keep[j];
        }
    }
}

/* dK and dV of a tile of keys, from all queries of all heads that look at it. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) find_d_keys(const struct yk_attend_back_task task)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attend &op = task.forward.op;
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
        const struct yk_attend_head head = yk_attend_head_of(op, sample, kv_head * group + h);
        if (s >= head.length) {
            break;
        }
        /* The first tile with a query that sees key s. */
        for (int t = max(s - head.shift, 0) / TILE * TILE; t < queries; t += TILE) {
            differentiate<T>(task, head, t, s, area, powers, d_scores);
            bring_product(
                powers,
                rows_of<T>(task.d_out, op.out_stride, sample, queries, t, queries, head.head, size),
                column, size, tile, area);
            multiply_tile_turned(tile, area, dv);
            bring_product(
                d_scores,
                rows_of<T>(op.q, op.q_stride, sample, queries, t, queries, head.head, size), column,
                size, tile, area);
            multiply_tile_turned(tile, area, dk);
        }
    }
    const float ones[4] = {1.0F, 1.0F, 1.0F, 1.0F};
    const float scales[4] = {op.scale, op.scale, op.scale, op.scale};
    store(dk, scales,
          static_cast<T *>(task.dk) + yk_attend_row(sample, keys, s, task.dk_stride, kv_head, size),
          task.dk_stride, keys - s, column, size);
    store(dv, ones,
          static_cast<T *>(task.dv) + yk_attend_row(sample, keys, s, task.dv_stride, kv_head, size),
          task.dv_stride, keys - s, column, size);
}

/* dQ of a tile of queries. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    find_d_queries(const struct yk_attend_back_task task)
{
    __shared__ __align__(16) float area[AREA];
    __shared__ __align__(16) float tile[AREA];
    const struct yk_attend &op = task.forward.op;
    const int tiles = static_cast<int>((op.queries + TILE - 1) / TILE);
    const int64_t place = blockIdx.x / tiles;
    const struct yk_attend_head head = yk_attend_head_of(op, place / op.heads, place % op.heads);
    const int first = static_cast<int>(blockIdx.x % tiles) * TILE;
    const int queries = static_cast<int>(op.queries);
    const int size = static_cast<int>(op.head_size);
    const int column = static_cast<int>(blockIdx.y) * TILE;
    float dq[4][4] = {};
    float powers[4][4];
    float d_scores[4][4];
    const int end = yk_attend_seen(head, min(first + TILE, queries) - 1);
    for (int s = 0; s < end; s += TILE) {
        differentiate<T>(task, head, first, s, area, powers, d_scores);
        bring_product(
            d_scores,
            rows_of<T>(op.k, op.k_stride, head.sample, op.keys, s, head.length, head.kv_head, size),
            column, size, tile, area);
        multiply(tile, area, dq);
    }
    const float scales[4] = {op.scale, op.scale, op.scale, op.scale};
    store(dq, scales,
          static_cast<T *>(task.dq) +
              yk_attend_row(head.sample, queries, first, task.dq_stride, head.head, size),
          task.dq_stride, queries - first, column, size);
}

static dim3 grid_of(int64_t heads, int64_t rows, int64_t size)
{
    return dim3(static_cast<unsigned>(heads * yk_ceil_div(rows, TILE)),
                static_cast<unsigned>(yk_ceil_div(size, TILE)));
}

void yk_cuda_attend_plain(struct yk_backend_lane *lane, const struct yk_attend_task *task)
{
    const struct yk_attend *op = &task->op;
    const dim3 grid = grid_of(op->batch * op->heads, op->queries, op->head_size);
    const cudaStream_t stream = yk_cuda_stream(lane);
    yk_with_type(op->type, [&](auto number) {
        attend<decltype(number)><<<grid, THREADS, 0, stream>>>(*task);
    });
    yk_cuda_note(lane, cudaGetLastError(), "attend");
}

void yk_cuda_attend_back_plain(struct yk_backend_lane *lane, const struct yk_attend_back_task *task)
{
    const struct yk_attend *op = &task->forward.op;
    const dim3 key_grid = grid_of(op->batch * op->kv_heads, op->keys, op->head_size);
    const dim3 query_grid = grid_of(op->batch * op->heads, op->queries, op->head_size);
    const cudaStream_t stream = yk_cuda_stream(lane);
    yk_with_type(op->type, [&](auto number) {
        using T = decltype(number);
        if (key_grid.x > 0) {
            find_d_keys<T><<<key_grid, THREADS, 0, stream>>>(*task);
        }
        if (query_grid.x > 0) {
            find_d_queries<T><<<query_grid, THREADS, 0, stream>>>(*task);
        }
    });
    yk_cuda_note(lane, cudaGetLastError(), "attend back");
}
