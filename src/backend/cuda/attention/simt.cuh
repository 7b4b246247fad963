/*
 * Tiles of attention without tensor cores, for any type and size: 64 queries and 64 keys in fp32, a
 * block of 256 threads for each. Thread (y, x) of 16 · 16 has rows 4y … 4y + 3 and columns 4x …
 * 4x + 3 of every tile.
 *
 * Products over the head's size are taken in steps of 32 numbers. Of what is as wide as a head a
 * block finds 64 columns, so that heads may have any size; the blocks of a wider head find the same
 * scores once more.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_SIMT_CUH
#define YK_BACKEND_CUDA_ATTENTION_SIMT_CUH

#include "backend/cuda/attention/attention.cuh"

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
    return {static_cast<const T *>(base) +
                yk_attention_row_offset(sample, length, first, stride, head, size),
            stride, min(end - first, static_cast<int>(TILE))};
}

/* Columns `first` … of 64 rows as (DEPTH, TILE). The lanes of a warp write to 32 banks. */
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
        to[c * STRIDE + r] = there ? yk_load(rows.from[r * rows.stride + first + c]) : 0.0F;
    }
}

/* Columns `first` … of 64 rows as (TILE, TILE). */
template <typename T>
static __device__ void load_rows(const rows<T> &rows, int first, int size, float *to)
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

/* Brings (64, 64) of numbers for a product: each thread's part of the tile, and rows. */
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

/* The thread's part of a tile whose first `rows` rows exist, each row times its scale, to columns
 * `column` … of a head. */
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

static __device__ void apply_dropout(const struct yk_attention_task &task,
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

/* A block's tile of queries, and the columns of the head that it finds. */
struct query_tile {
    int64_t place; /* of the head in (B, heads) */
    struct yk_attention_head head;
    int first;
    int end; /* of the keys that any of them sees */
    int queries;
    int size;
    int column;
};

static __device__ __forceinline__ struct query_tile query_tile_of(const struct yk_attention_op &op)
{
    const int tiles = static_cast<int>((op.queries + TILE - 1) / TILE);
    struct query_tile own;
    own.place = blockIdx.x / tiles;
    own.head = yk_attention_head_of(op, own.place / op.heads, own.place % op.heads);
    own.first = static_cast<int>(blockIdx.x % tiles) * TILE;
    own.queries = static_cast<int>(op.queries);
    own.size = static_cast<int>(op.head_size);
    own.column = static_cast<int>(blockIdx.y) * TILE;
    own.end = yk_attention_visible_keys(own.head, min(own.first + TILE, own.queries) - 1);
    return own;
}

static dim3 grid_of(int64_t heads, int64_t rows, int64_t size)
{
    return dim3(static_cast<unsigned>(heads * yk_ceil_div(rows, TILE)),
                static_cast<unsigned>(yk_ceil_div(size, TILE)));
}

#endif
