#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/lora_inner.cuh"
#include "backend/cuda/kernels/mma.cuh"

/*
 * The gradients of a LoRA adapter. Both are products with dy, a large matrix, and are narrow. So
 * memory is the limit, and dy is read once for both.
 *
 * The columns of a part are divided into stripes, the rows into tiles of 16. The tiles of all
 * stripes, one stripe after the other, are divided among the blocks, so that all have the same
 * work. What a block has of a stripe is a segment. A warp has 128 columns of it. While a block goes
 * down the rows, it keeps the sums for d_factor in registers, and adds up the sums for d_inner of
 * each tile over its warps. Sums of segments and of stripes go to scratch memory. A second kernel
 * adds them up, always in the same order.
 */
enum {
    WARPS = 8,
    THREADS = 32 * WARPS,
    TILE_ROWS = 16,
    WARP_COLUMNS = 128,
    STRIPE_COLUMNS = WARPS * WARP_COLUMNS, /* at most */
    PRODUCT_COLUMNS = 16,                  /* of dy, in a product for d_inner */
    PRODUCTS = WARP_COLUMNS / PRODUCT_COLUMNS,
    GROUP_COLUMNS = 8, /* of dy, in a product for d_factor */
    GROUPS = WARP_COLUMNS / GROUP_COLUMNS,
    PRODUCT_RANKS = 16,
    WARP_CHUNKS = WARP_COLUMNS / YK_LORA_CHUNK, /* of a row */
    TILE_CHUNKS = TILE_ROWS * WARP_CHUNKS,      /* of a warp */
    MIN_STAGES = 3, /* one is computed, sums of one are added up, one or more are under way */
    MAX_STAGES = 6,
    MIN_BLOCK_TILES = 2, /* fewer are not worth the sums of a block */
    MAX_PARTS = YK_LORA_MAX_PARTS,
    SUM_THREADS = 256,    /* of the second kernel */
    INNER_SUM_RANKS = 4,  /* of a thread there that sums d_inner */
    FACTOR_SUM_RANKS = 2, /* and of one that sums d_factor: fewer, as more blocks have a sum */
    SUMS_AT_ONCE = 16,    /* blocks whose sums it loads together */
};

template <typename T> struct part {
    uint32_t columns;
    uint32_t first; /* column of dy */
    uint32_t first_stripe;
    uint32_t stripe_columns; /* of each stripe but the last */
    uint32_t cost;           /* of a tile: work is measured in parts of it */
    uint64_t first_work;     /* that of all stripes before this part */
    const T *factor;
    T *d_factor;
};

template <typename T> struct gradients {
    uint32_t rows;
    uint32_t tiles; /* of rows */
    uint32_t stripes;
    uint32_t parts;
    uint32_t dy_stride;
    uint32_t blocks;
    uint64_t work; /* of all tiles */
    float scale;
    const T *dy;
    struct yk_lora_inner<T> inner; /* of the first part */
    T *d_inner;
    float *inner_sums;  /* (stripes, rows, ranks) */
    float *factor_sums; /* (blocks + stripes, ranks, STRIPE_COLUMNS) */
    struct part<T> part[MAX_PARTS];
};

/* Which part a stripe belongs to. */
template <typename T>
YK_DEVICE_INLINE uint32_t part_of_stripe(const struct gradients<T> &in, uint32_t stripe)
{
    uint32_t part = 0;
#pragma unroll
    for (uint32_t i = 1; i < MAX_PARTS; i++) {
        part = i < in.parts && stripe >= in.part[i].first_stripe ? i : part;
    }
    return part;
}

/* Columns of a stripe, relative to its part: from `first` to `end`. */
struct columns {
    uint32_t first;
    uint32_t end;
};

template <typename T>
YK_DEVICE_INLINE struct columns columns_of_stripe(const struct part<T> &part, uint32_t stripe)
{
    const uint32_t first = (stripe - part.first_stripe) * part.stripe_columns;
    return {first, min(first + part.stripe_columns, part.columns)};
}

/* Where the sums of a segment are. With every segment, the block or the stripe is the next one, or
 * both are; so no other segment has the same place. */
template <typename T, int DEPTHS>
YK_DEVICE_INLINE float *segment_sums(const struct gradients<T> &in, uint32_t block, uint32_t stripe)
{
    return in.factor_sums +
           static_cast<uint64_t>(block + stripe) * (DEPTHS * PRODUCT_RANKS * STRIPE_COLUMNS);
}

#if YK_HAS_TENSOR_CORES

template <typename T, int DEPTHS> struct segment {
    static constexpr uint32_t ranks = DEPTHS * PRODUCT_RANKS;
    static constexpr uint32_t inner_chunks = ranks / YK_LORA_CHUNK; /* of a row */
    static constexpr uint32_t stage_chunks = WARPS * TILE_CHUNKS + TILE_ROWS * inner_chunks;
    const struct gradients<T> &in;
    const struct part<T> &part;
    uint4 *shared; /* (stages, stage_chunks) */
    int stages;
    uint32_t stripe;
    uint32_t end; /* the tile behind the last one */
    uint32_t warp;
    uint32_t lane;
    uint32_t warps;  /* with columns */
    uint32_t column; /* the first one of the warp, relative to the part */
    const T *from;   /* what the lane copies of a row */
    struct yk_lora_inner<T> inner;
    uint2 factors[PRODUCTS][2 * DEPTHS];  /* operands */
    float factor_sums[GROUPS][DEPTHS][4]; /* transposed: ranks are rows */

    __device__ __forceinline__ uint4 *tile_at(int stage, uint32_t of_warp) const
    {
        return shared + static_cast<uint32_t>(stage) * stage_chunks + of_warp * TILE_CHUNKS;
    }

    __device__ __forceinline__ uint4 *inner_at(int stage) const
    {
        return tile_at(stage, WARPS);
    }

    /* Where a chunk of a row of dy is. Chunks of neighbouring rows are in different banks. */
    YK_DEVICE_INLINE uint32_t place_of(uint32_t row, uint32_t chunk)
    {
        return row * WARP_CHUNKS + (chunk ^ row % 8);
    }

    /* Where a sum for d_inner is. Eight sums of neighbouring rows are in different banks. */
    YK_DEVICE_INLINE uint32_t place_of_sum(uint32_t row, uint32_t k)
    {
        return row * ranks + (k ^ (ranks == 32 ? row % 4 : row / 2 % 2) * 8);
    }

    __device__ __forceinline__ T factor_at(uint32_t at, uint32_t k) const
    {
        return at < part.columns && k < inner.rank ? yk_lora_row_at(part.factor, at, inner.rank)[k]
                                                   : yk_from_float<T>(0.0F);
    }

    __device__ __forceinline__ void load_factors(void)
    {
#pragma unroll
        for (uint32_t i = 0; i < PRODUCTS * 2 * DEPTHS; i++) {
            const uint32_t at = column + i / (2 * DEPTHS) * PRODUCT_COLUMNS + lane % 4 * 2;
            const uint32_t k = i % (2 * DEPTHS) * 8 + lane / 4;
            T numbers[4];
            for (uint32_t j = 0; j < 4; j++) {
                numbers[j] = factor_at(at + j / 2 * 8 + j % 2, k);
            }
            memcpy(&factors[i / (2 * DEPTHS)][i % (2 * DEPTHS)], numbers, sizeof(uint2));
        }
    }

    /* Starts the copies of a tile, if it is in the segment. Beyond the end, the last row of dy is
     * repeated, and rows of `inner` are 0. */
    __device__ __forceinline__ void fetch(uint32_t tile, int stage) const
    {
        if (tile < end && warp < warps) {
            uint4 *to = tile_at(stage, warp);
#pragma unroll
            for (uint32_t i = 0; i < TILE_CHUNKS / 32; i++) {
                const uint32_t row = 2 * i + lane / WARP_CHUNKS;
                yk_async_copy_16_bytes_of_line(
                    to + place_of(row, lane % WARP_CHUNKS),
                    reinterpret_cast<const uint4 *>(yk_lora_row_at(
                        from, min(tile * TILE_ROWS + row, in.rows - 1), in.dy_stride)));
            }
        }
        if (tile < end && threadIdx.x < TILE_ROWS * inner_chunks) {
            const uint32_t row = threadIdx.x / inner_chunks;
            const uint32_t chunk = threadIdx.x % inner_chunks;
            uint4 *to = inner_at(stage) + yk_lora_place_of<inner_chunks>(row, chunk);
            if (tile * TILE_ROWS + row < in.rows) {
                yk_lora_fetch_chunk(inner, tile * TILE_ROWS + row, chunk, to);
            } else {
                *to = make_uint4(0, 0, 0, 0);
            }
        }
        yk_async_copy_commit_group();
    }

    /* Both products of the warp's part of a tile. The sums for d_inner replace it. */
    __device__ __forceinline__ void multiply(int stage)
    {
        const uint32_t row = lane % 16;
        uint4 *tile = tile_at(stage, warp);
        float sums[2 * DEPTHS][4] = {};
        uint32_t ranks_of_rows[DEPTHS][4];
#pragma unroll
        for (uint32_t i = 0; i < DEPTHS; i++) {
            /* Rows 0 to 7 of two chunks, then rows 8 to 15 of both. */
            const uint32_t place =
                yk_lora_place_of<inner_chunks>(lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2);
            yk_load_four_matrices_transposed(yk_shared_memory_address(inner_at(stage) + place),
                                             ranks_of_rows[i]);
        }
#pragma unroll
        for (uint32_t i = 0; i < PRODUCTS; i++) {
            const uint32_t address =
                yk_shared_memory_address(tile + place_of(row, 2 * i + lane / 16));
            uint32_t rows[4];
            uint32_t columns[4];
            yk_load_four_matrices(address, rows);
            yk_load_four_matrices_transposed(address, columns);
#pragma unroll
            for (int j = 0; j < 2 * DEPTHS; j++) {
                yk_mma<T>(sums[j], rows, factors[i][j].x, factors[i][j].y);
            }
#pragma unroll
            for (int j = 0; j < DEPTHS; j++) {
                yk_mma<T>(factor_sums[2 * i][j], ranks_of_rows[j], columns[0], columns[1]);
                yk_mma<T>(factor_sums[2 * i + 1][j], ranks_of_rows[j], columns[2], columns[3]);
            }
        }
        __syncwarp(); /* all lanes have loaded */
        float *to = reinterpret_cast<float *>(tile);
#pragma unroll
        for (uint32_t i = 0; i < 2 * DEPTHS; i++) {
            const uint32_t k = 8 * i + lane % 4 * 2;
            *reinterpret_cast<float2 *>(to + place_of_sum(lane / 4, k)) =
                make_float2(sums[i][0], sums[i][1]);
            *reinterpret_cast<float2 *>(to + place_of_sum(lane / 4 + 8, k)) =
                make_float2(sums[i][2], sums[i][3]);
        }
    }

    /* Adds up the sums of the warps. */
    __device__ __forceinline__ void add_up(uint32_t tile, int stage) const
    {
        const uint64_t first = static_cast<uint64_t>(stripe) * in.rows + tile * TILE_ROWS;
        const uint32_t rows = min(in.rows - tile * TILE_ROWS, static_cast<uint32_t>(TILE_ROWS));
        for (uint32_t i = threadIdx.x; i < rows * ranks; i += THREADS) {
            const uint32_t place = place_of_sum(i / ranks, i % ranks);
            float sum = 0.0F;
            for (uint32_t j = 0; j < warps; j++) {
                sum += reinterpret_cast<const float *>(tile_at(stage, j))[place];
            }
            in.inner_sums[first * ranks + i] = sum;
        }
    }

    __device__ __forceinline__ int stage_after(int stage, int steps) const
    {
        return stage + steps >= stages ? stage + steps - stages : stage + steps;
    }

    __device__ __forceinline__ void start(uint32_t tile) const
    {
        for (int i = 0; i < stages - 2; i++) {
            fetch(tile + static_cast<uint32_t>(i), i);
        }
    }

    /* A tile is fetched into the memory of the one that was computed two tiles before: its sums
     * have been added up when all warps are here again. */
    __device__ __forceinline__ void run(uint32_t tile)
    {
        int stage = 0;
        for (bool first = true; tile < end; tile++, first = false) {
            yk_async_copy_wait_all_but(stages - 3);
            __syncthreads();
            if (!first) {
                add_up(tile - 1, stage_after(stage, stages - 1));
            }
            fetch(tile + static_cast<uint32_t>(stages - 2), stage_after(stage, stages - 2));
            if (warp < warps) {
                multiply(stage);
            }
            stage = stage_after(stage, 1);
        }
        __syncthreads();
        add_up(end - 1, stage_after(stage, stages - 1));
        __syncthreads(); /* before the next segment overwrites them */
    }

    __device__ __forceinline__ void store_factor_sums(void) const
    {
        if (warp < warps) {
            float *to = segment_sums<T, DEPTHS>(in, blockIdx.x, stripe) +
                        lane / 4 * STRIPE_COLUMNS + warp * WARP_COLUMNS + lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < GROUPS * DEPTHS; i++) {
                const float(&sums)[4] = factor_sums[i / DEPTHS][i % DEPTHS];
                float *at =
                    to + i % DEPTHS * PRODUCT_RANKS * STRIPE_COLUMNS + i / DEPTHS * GROUP_COLUMNS;
                *reinterpret_cast<float2 *>(at) = make_float2(sums[0], sums[1]);
                *reinterpret_cast<float2 *>(at + 8 * STRIPE_COLUMNS) =
                    make_float2(sums[2], sums[3]);
            }
        }
    }
};

#endif

/* The work before a tile of a stripe. */
template <typename T>
YK_DEVICE_INLINE uint64_t work_before(const struct gradients<T> &in, const struct part<T> &part,
                                      uint32_t stripe, uint32_t tile)
{
    return part.first_work +
           (static_cast<uint64_t>(stripe - part.first_stripe) * in.tiles + tile) * part.cost;
}

/* The work before a block. The block has the tiles that begin after it. */
template <typename T>
YK_DEVICE_INLINE uint64_t work_before_block(const struct gradients<T> &in, uint32_t block)
{
    return in.work * block / in.blocks;
}

/* Which block has the tile that begins after this work. */
template <typename T>
YK_DEVICE_INLINE uint32_t block_after(const struct gradients<T> &in, uint64_t work)
{
    return static_cast<uint32_t>(((work + 1) * in.blocks - 1) / in.work);
}

/* The first tile that begins after this work, counted over all stripes. */
template <typename T>
YK_DEVICE_INLINE uint64_t tile_after(const struct gradients<T> &in, uint64_t work)
{
    uint32_t number = 0;
#pragma unroll
    for (uint32_t i = 1; i < MAX_PARTS; i++) {
        number = i < in.parts && work >= in.part[i].first_work ? i : number;
    }
    const struct part<T> &part = in.part[number];
    return static_cast<uint64_t>(part.first_stripe) * in.tiles +
           (work - part.first_work + part.cost - 1) / part.cost;
}

template <typename T, int DEPTHS>
static __global__ void __launch_bounds__(THREADS, 1)
    lora_backward_tiles(struct gradients<T> in, int stages)
{
#if YK_HAS_TENSOR_CORES
    extern __shared__ uint4 shared[];
    const uint64_t end = tile_after(in, work_before_block(in, blockIdx.x + 1));
    for (uint64_t at = tile_after(in, work_before_block(in, blockIdx.x)); at < end;) {
        const uint32_t stripe = static_cast<uint32_t>(at / in.tiles);
        const uint32_t tile = static_cast<uint32_t>(at % in.tiles);
        const uint32_t number = part_of_stripe(in, stripe);
        const struct part<T> &part = in.part[number];
        const struct columns columns = columns_of_stripe(part, stripe);
        const uint32_t warp = threadIdx.x / 32;
        const uint32_t lane = threadIdx.x % 32;
        const uint32_t column = columns.first + warp * WARP_COLUMNS;
        struct segment<T, DEPTHS> segment = {
            in, part, shared, stages, stripe
        };
        segment.end = static_cast<uint32_t>(min(static_cast<uint64_t>(in.tiles), tile + end - at));
        segment.warp = warp;
        segment.lane = lane;
        segment.warps = (columns.end - columns.first + WARP_COLUMNS - 1) / WARP_COLUMNS;
        segment.column = column;
        /* Beyond the end, the last columns are repeated; their factors are 0. */
        segment.from =
            in.dy + part.first +
            min(column + lane % WARP_CHUNKS * YK_LORA_CHUNK, part.columns - YK_LORA_CHUNK);
        segment.inner = in.inner;
        segment.inner.rows += number * in.inner.rank;
        segment.start(tile);
        segment.load_factors();
        segment.run(tile);
        segment.store_factor_sums();
        at += segment.end - tile;
    }
#endif
}

/* d_inner of a row and INNER_SUM_RANKS ranks. */
template <typename T, int DEPTHS>
YK_DEVICE_INLINE void finish_inner(const struct gradients<T> &in, uint64_t i)
{
    constexpr uint32_t ranks = DEPTHS * PRODUCT_RANKS;
    const uint32_t k = static_cast<uint32_t>(i % (ranks / INNER_SUM_RANKS)) * INNER_SUM_RANKS;
    const uint64_t row = i / (ranks / INNER_SUM_RANKS) % in.rows;
    const uint32_t number = static_cast<uint32_t>(i / (ranks / INNER_SUM_RANKS) / in.rows);
    const uint32_t first = in.part[number].first_stripe;
    const uint32_t end = number + 1 < in.parts ? in.part[number + 1].first_stripe : in.stripes;
    float sums[INNER_SUM_RANKS] = {};
#pragma unroll 4
    for (uint32_t stripe = first; stripe < end; stripe++) {
        const float4 part = *reinterpret_cast<const float4 *>(
            in.inner_sums + (static_cast<uint64_t>(stripe) * in.rows + row) * ranks + k);
        sums[0] += part.x;
        sums[1] += part.y;
        sums[2] += part.z;
        sums[3] += part.w;
    }
    T *to = in.d_inner + row * in.inner.stride + number * in.inner.rank + k;
#pragma unroll
    for (uint32_t j = 0; j < INNER_SUM_RANKS; j++) {
        if (k + j < in.inner.rank) {
            to[j] = yk_from_float<T>(in.scale * sums[j]);
        }
    }
}

/* d_factor of a column and FACTOR_SUM_RANKS ranks. */
template <typename T, int DEPTHS>
YK_DEVICE_INLINE void finish_factor(const struct gradients<T> &in, uint64_t i)
{
    constexpr uint32_t ranks = DEPTHS * PRODUCT_RANKS;
    constexpr uint32_t pairs = ranks / FACTOR_SUM_RANKS; /* of a column */
    const uint32_t k = static_cast<uint32_t>(i / STRIPE_COLUMNS % pairs) * FACTOR_SUM_RANKS;
    const uint32_t stripe = static_cast<uint32_t>(i / STRIPE_COLUMNS / pairs);
    const struct part<T> &part = in.part[part_of_stripe(in, stripe)];
    const struct columns columns = columns_of_stripe(part, stripe);
    const uint32_t column = static_cast<uint32_t>(i % STRIPE_COLUMNS);
    if (columns.first + column >= columns.end || k >= in.inner.rank) {
        return;
    }
    T *to = yk_lora_row_at(part.d_factor, columns.first + column, in.inner.rank) + k;
    float before[FACTOR_SUM_RANKS];
#pragma unroll
    for (uint32_t j = 0; j < FACTOR_SUM_RANKS; j++) {
        before[j] = k + j < in.inner.rank ? yk_to_float(to[j]) : 0.0F;
    }
    const uint32_t last = block_after(in, work_before(in, part, stripe, in.tiles - 1));
    float sums[FACTOR_SUM_RANKS] = {};
    for (uint32_t block = block_after(in, work_before(in, part, stripe, 0)); block <= last;
         block += SUMS_AT_ONCE) {
        float loaded[SUMS_AT_ONCE][FACTOR_SUM_RANKS]; /* beyond the last block, of that one */
#pragma unroll
        for (uint32_t n = 0; n < SUMS_AT_ONCE; n++) {
            const float *from = segment_sums<T, DEPTHS>(in, min(block + n, last), stripe) +
                                k * STRIPE_COLUMNS + column;
#pragma unroll
            for (uint32_t j = 0; j < FACTOR_SUM_RANKS; j++) {
                loaded[n][j] = from[j * STRIPE_COLUMNS];
            }
        }
#pragma unroll
        for (uint32_t n = 0; n < SUMS_AT_ONCE; n++) {
#pragma unroll
            for (uint32_t j = 0; j < FACTOR_SUM_RANKS; j++) {
                sums[j] += block + n <= last ? loaded[n][j] : 0.0F;
            }
        }
    }
#pragma unroll
    for (uint32_t j = 0; j < FACTOR_SUM_RANKS; j++) {
        if (k + j < in.inner.rank) {
            to[j] = yk_from_float<T>(before[j] + in.scale * sums[j]);
        }
    }
}

template <typename T, int DEPTHS>
static __global__ void __launch_bounds__(SUM_THREADS) finish_gradients(struct gradients<T> in)
{
    constexpr uint64_t ranks = DEPTHS * PRODUCT_RANKS;
    const uint64_t factors = ranks / FACTOR_SUM_RANKS * STRIPE_COLUMNS * in.stripes;
    const uint64_t inner = ranks / INNER_SUM_RANKS * in.rows * in.parts;
    const uint64_t i = static_cast<uint64_t>(blockIdx.x) * SUM_THREADS + threadIdx.x;
    if (i < factors) {
        finish_factor<T, DEPTHS>(in, i);
    } else if (i - factors < inner) {
        finish_inner<T, DEPTHS>(in, i - factors);
    }
}

/* Sets everything but the addresses of the sums. */
template <typename T>
static void set_gradients(const struct yk_lora_backward_op *op, int32_t processors,
                          struct gradients<T> *out)
{
    out->rows = static_cast<uint32_t>(op->rows);
    out->tiles = static_cast<uint32_t>(yk_number_ceil_div(op->rows, TILE_ROWS));
    out->parts = static_cast<uint32_t>(op->parts);
    out->dy_stride = static_cast<uint32_t>(op->dy_stride);
    out->scale = op->scale;
    out->dy = static_cast<const T *>(op->dy);
    out->inner = yk_lora_make_inner<T>(op->inner, op->parts * op->rank, op->rank);
    out->d_inner = static_cast<T *>(op->d_inner);
    uint32_t first = 0;
    int64_t max_cost = 1;
    for (int32_t i = 0; i < op->parts; i++) {
        const int64_t columns = op->part[i].columns;
        const int64_t stripes = yk_number_ceil_div(columns, STRIPE_COLUMNS);
        const int64_t even = yk_number_round_up(yk_number_ceil_div(columns, stripes), WARP_COLUMNS);
        const int64_t cost = even / WARP_COLUMNS + 1;
        const int64_t count = yk_number_ceil_div(columns, even);
        out->part[i] = {static_cast<uint32_t>(columns),
                        first,
                        out->stripes,
                        static_cast<uint32_t>(even),
                        static_cast<uint32_t>(cost),
                        out->work,
                        static_cast<const T *>(op->part[i].factor),
                        static_cast<T *>(op->part[i].d_factor)};
        first += static_cast<uint32_t>(columns);
        out->stripes += static_cast<uint32_t>(count);
        out->work += static_cast<uint64_t>(count * out->tiles * cost);
        max_cost = yk_number_max(max_cost, cost);
    }
    /* No block is without tiles, between others that have some of the same stripe. */
    const int64_t most = static_cast<int64_t>(out->work) / (MIN_BLOCK_TILES * max_cost);
    out->blocks = static_cast<uint32_t>(yk_number_max(yk_number_min(processors, most), 1));
}

/* Returns false if there is too little shared or scratch memory. */
template <typename T, int DEPTHS>
static bool try_launch(struct yk_backend_lane *lane, struct gradients<T> *in)
{
    constexpr int64_t ranks = DEPTHS * PRODUCT_RANKS;
    constexpr int64_t stage_bytes = 16 * (WARPS * TILE_CHUNKS + TILE_ROWS * ranks / YK_LORA_CHUNK);
    const int64_t shared = static_cast<int64_t>(yk_cuda_lane_device_properties(lane)->shared_bytes);
    const int64_t stages = yk_number_min(shared / stage_bytes, MAX_STAGES);
    const int64_t inner_count = static_cast<int64_t>(in->stripes) * in->rows * ranks;
    const int64_t factor_count =
        (static_cast<int64_t>(in->blocks) + in->stripes) * ranks * STRIPE_COLUMNS;
    const int64_t bytes = static_cast<int64_t>(sizeof(float)) * (inner_count + factor_count);
    if (stages < MIN_STAGES || bytes > YK_CUDA_MIN_SCRATCH_BYTES) {
        return false;
    }
    const auto kernel = lora_backward_tiles<T, DEPTHS>;
    const cudaError_t error = yk_allow_dynamic_shared_memory(reinterpret_cast<const void *>(kernel),
                                                             stages * stage_bytes);
    in->factor_sums =
        static_cast<float *>(yk_cuda_lane_get_scratch(lane, static_cast<size_t>(bytes)));
    if (yk_cuda_lane_check_cuda_error(lane, error, "lora_backward") && in->factor_sums) {
        in->inner_sums = in->factor_sums + factor_count;
        kernel<<<in->blocks, THREADS, static_cast<size_t>(stages * stage_bytes),
                 yk_cuda_lane_stream(lane)>>>(*in, static_cast<int>(stages));
        const int64_t count =
            ranks / FACTOR_SUM_RANKS * STRIPE_COLUMNS * static_cast<int64_t>(in->stripes) +
            ranks / INNER_SUM_RANKS * static_cast<int64_t>(in->rows) * in->parts;
        finish_gradients<T, DEPTHS><<<static_cast<unsigned>(yk_number_ceil_div(count, SUM_THREADS)),
                                      SUM_THREADS, 0, yk_cuda_lane_stream(lane)>>>(*in);
        yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "lora_backward");
    }
    return true;
}

template <typename T>
static bool try_type(struct yk_backend_lane *lane, const struct yk_lora_backward_op *op)
{
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    bool fits = properties->code_capability >= 80 && op->rank <= 2 * PRODUCT_RANKS &&
                op->rows <= INT32_MAX && op->dy_stride <= INT32_MAX &&
                yk_are_rows_16_byte_aligned<T>(op->dy, op->dy_stride);
    for (int32_t i = 0; i < op->parts; i++) {
        fits = fits && op->part[i].columns > 0 && op->part[i].columns % YK_LORA_CHUNK == 0;
    }
    if (!fits) {
        return false;
    }
    gradients<T> in = {};
    set_gradients(op, properties->processors, &in);
    return op->rank <= PRODUCT_RANKS ? try_launch<T, 1>(lane, &in) : try_launch<T, 2>(lane, &in);
}

/* With matmuls, which each read dy. */
static void multiply_parts(struct yk_backend_lane *lane, const struct yk_lora_backward_op *op)
{
    for (int32_t i = 0; i < op->parts; i++) {
        yk_matmul_op matmuls[2];
        yk_ops_make_matmul_ops_of_lora_backward(op, i, matmuls);
        yk_cuda_matmul(lane, &matmuls[0]);
        yk_cuda_matmul(lane, &matmuls[1]);
    }
}

void yk_cuda_lora_backward(struct yk_backend_lane *lane, const struct yk_lora_backward_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0) {
        return;
    }
    const bool done = op->type == YK_PRECISION_BF16   ? try_type<__nv_bfloat16>(lane, op)
                      : op->type == YK_PRECISION_FP16 ? try_type<__half>(lane, op)
                                                      : false;
    if (!done) {
        multiply_parts(lane, op);
    }
}
