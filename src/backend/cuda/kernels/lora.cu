#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/lora_inner.cuh"
#include "backend/cuda/kernels/mma.cuh"

/*
 * The output of LoRA adapters. Ranks are small, so that y is the only large matrix, and what is
 * added to it: memory is the limit. A warp has 16 rows and goes over some columns of one part, 32
 * at a time. A product for 8 of them takes every fourth pair of columns: so a lane gets eight
 * columns that follow each other, and stores them at once. Operands are loaded from memory as lanes
 * need them: four lanes have 16 or 32 bytes of a row between them.
 */
enum {
    WARPS = 4,
    THREADS = 32 * WARPS,
    TILE_ROWS = 16, /* of a warp */
    PRODUCT_RANKS = 16,
    MAX_DEPTHS = 2,    /* products over ranks */
    STEP_COLUMNS = 32, /* of a warp at a time */
    STEP_PRODUCTS = 4,
    BLOCK_COLUMNS = 128,
    LANE_COLUMNS = 8,
};

template <typename T> struct adapters {
    uint32_t rows;
    uint32_t rank;
    uint32_t inner_stride;
    uint32_t y_stride;
    float scale;
    uint32_t parts;
    const T *inner;
    T *y;
    const T *add;
    struct {
        uint32_t first_block; /* of blockIdx.y */
        uint32_t first;       /* column of y */
        uint32_t columns;
        const T *factor;
    } part[YK_LORA_MAX_PARTS];
};

#if YK_HAS_TENSOR_CORES

/* Two elements of a row. */
template <typename T> YK_DEVICE_INLINE uint32_t load_pair(const T *row, uint32_t at)
{
    return *reinterpret_cast<const uint32_t *>(row + at);
}

/* The eight columns of a row that a lane has: scale · sums + add. */
template <typename T, bool ADD>
YK_DEVICE_INLINE void store_columns(const struct adapters<T> &in,
                                    const float (&sums)[STEP_PRODUCTS][4], int half,
                                    const uint4 &add, T *to)
{
    float added[LANE_COLUMNS] = {};
    float numbers[LANE_COLUMNS];
    if constexpr (ADD) {
        yk_unpack_16_bytes_to_floats<T>(add, added);
    }
#pragma unroll
    for (int i = 0; i < LANE_COLUMNS; i++) {
        numbers[i] = in.scale * sums[i / 2][2 * half + i % 2] + added[i];
    }
    *reinterpret_cast<uint4 *>(to) = yk_pack_floats_to_16_bytes<T>(numbers);
}

#endif

template <typename T, int DEPTHS, bool ADD>
static __global__ void __launch_bounds__(THREADS)
    lora_tiles(const YK_GRID_CONSTANT struct adapters<T> in)
{
#if YK_HAS_TENSOR_CORES
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t tile = (blockIdx.x * WARPS + threadIdx.x / 32) * TILE_ROWS;
    uint32_t number = 0;
#pragma unroll
    for (uint32_t i = 1; i < YK_LORA_MAX_PARTS; i++) {
        number = i < in.parts && blockIdx.y >= in.part[i].first_block ? i : number;
    }
    const auto &part = in.part[number];
    const uint32_t begin = (blockIdx.y - part.first_block) * BLOCK_COLUMNS;
    const uint32_t end = min(begin + BLOCK_COLUMNS, part.columns);
    if (tile >= in.rows) {
        return;
    }
    /* Rows g and g + 8 of the tile; beyond the end, the last one. */
    const uint32_t rows[2] = {tile + lane / 4, tile + lane / 4 + 8};
    uint32_t inner[DEPTHS][4];
#pragma unroll
    for (uint32_t i = 0; i < 4 * DEPTHS; i++) {
        const T *row = yk_lora_row_at(in.inner, min(rows[i % 2], in.rows - 1), in.inner_stride);
        inner[i / 4][i % 4] =
            load_pair(row, number * in.rank + i / 2 * (PRODUCT_RANKS / 2) + lane % 4 * 2);
    }
#pragma unroll
    for (uint32_t step = 0; step < BLOCK_COLUMNS / STEP_COLUMNS; step++) {
        const uint32_t column = begin + step * STEP_COLUMNS;
        const uint32_t own = column + lane % 4 * LANE_COLUMNS; /* the lane's first column */
        uint4 add[2] = {};
        if (ADD && own < end) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                if (rows[i] < in.rows) {
                    add[i] = *reinterpret_cast<const uint4 *>(
                        yk_lora_row_at(in.add, rows[i], in.y_stride) + part.first + own);
                }
            }
        }
        float sums[STEP_PRODUCTS][4] = {};
#pragma unroll
        for (uint32_t i = 0; i < STEP_PRODUCTS; i++) {
            /* Column g of the product; beyond the end, the last one. */
            const uint32_t at =
                min(column + lane / 8 * LANE_COLUMNS + 2 * i + lane / 4 % 2, part.columns - 1);
            const T *factor = yk_lora_row_at(part.factor, at, in.rank);
#pragma unroll
            for (uint32_t j = 0; j < DEPTHS; j++) {
                const uint32_t k = j * PRODUCT_RANKS + lane % 4 * 2;
                yk_mma<T>(sums[i], inner[j], load_pair(factor, k), load_pair(factor, k + 8));
            }
        }
        if (own < end) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                if (rows[i] < in.rows) {
                    store_columns<T, ADD>(in, sums, i, add[i],
                                          yk_lora_row_at(in.y, rows[i], in.y_stride) + part.first +
                                              own);
                }
            }
        }
    }
#endif
}

template <typename T, int DEPTHS>
static void launch(struct yk_backend_lane *lane, const struct adapters<T> &in, unsigned blocks)
{
    const auto kernel = in.add ? lora_tiles<T, DEPTHS, true> : lora_tiles<T, DEPTHS, false>;
    const dim3 grid(yk_block_count(in.rows, WARPS * TILE_ROWS), blocks);
    kernel<<<grid, THREADS, 0, yk_cuda_lane_stream(lane)>>>(in);
}

/* Returns false if the kernel does not support the op. */
template <typename T>
static bool try_type(struct yk_backend_lane *lane, const struct yk_lora_op *op)
{
    bool fits = yk_cuda_lane_device_properties(lane)->code_capability >= 80 &&
                op->rank % PRODUCT_RANKS == 0 && op->rank > 0 &&
                op->rank <= MAX_DEPTHS * PRODUCT_RANKS && op->rows <= INT32_MAX &&
                op->y_stride <= INT32_MAX && yk_are_rows_16_byte_aligned<T>(op->y, op->y_stride) &&
                yk_are_rows_16_byte_aligned<T>(op->add, op->y_stride) &&
                yk_are_rows_16_byte_aligned<T>(op->inner, op->parts * op->rank);
    struct adapters<T> in = {
        static_cast<uint32_t>(op->rows), static_cast<uint32_t>(op->rank),
            static_cast<uint32_t>(op->parts * op->rank),
            static_cast<uint32_t>(op->y_stride), op->scale, static_cast<uint32_t>(op->parts),
            static_cast<const T *>(op->inner), static_cast<T *>(op->y),
            static_cast<const T *>(op->add)
    };
    int64_t first = 0;
    int64_t blocks = 0;
    for (int32_t i = 0; i < op->parts; i++) {
        const int64_t columns = op->part[i].columns;
        fits = fits && columns > 0 && columns % LANE_COLUMNS == 0 &&
               yk_are_rows_16_byte_aligned<T>(op->part[i].factor, op->rank);
        in.part[i] = {static_cast<uint32_t>(blocks), static_cast<uint32_t>(first),
                      static_cast<uint32_t>(columns), static_cast<const T *>(op->part[i].factor)};
        first += columns;
        blocks += yk_number_ceil_div(columns, BLOCK_COLUMNS);
    }
    if (!fits || blocks == 0 || blocks > UINT16_MAX) {
        return false;
    }
    if (op->rank == PRODUCT_RANKS) {
        launch<T, 1>(lane, in, static_cast<unsigned>(blocks));
    } else {
        launch<T, 2>(lane, in, static_cast<unsigned>(blocks));
    }
    return true;
}

void yk_cuda_lora(struct yk_backend_lane *lane, const struct yk_lora_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0) {
        return;
    }
    const bool done = op->type == YK_PRECISION_BF16   ? try_type<__nv_bfloat16>(lane, op)
                      : op->type == YK_PRECISION_FP16 ? try_type<__half>(lane, op)
                                                      : false;
    if (!done) {
        for (int32_t i = 0; i < op->parts; i++) {
            const struct yk_matmul_op matmul = yk_ops_make_matmul_op_of_lora(op, i);
            yk_cuda_matmul(lane, &matmul);
        }
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "lora");
}
