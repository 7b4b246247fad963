#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/activations.cuh"
#include "backend/cuda/kernels/lora_inner.cuh"
#include "backend/cuda/kernels/mma.cuh"

/*
 * Gated linear units with terms of LoRA adapters. A warp has tiles of 16 rows and 32 columns. It
 * reads gate and up, and adds the terms of the tile on tensor cores. Memory is the limit, but not
 * far from it are the instructions that an SM can issue: every one counts here.
 *
 * The 32 columns of a tile are four products of 8 columns each. Which column of a product is which
 * of the tile is free: they are chosen so that the results of a lane are 8 neighbouring elements of
 * a row, which are 16 bytes. The elements themselves are the start of the sums. In bf16, factors
 * are multiplied by a scale that is a power of two, which is exact. Any other scale multiplies the
 * sums, which then begin with the elements divided by it.
 *
 * The backward pass has the result of the forward pass, too, which is the input of the adapter that
 * d_out_term comes from. So it computes the gradient of the factor of this adapter. A warp keeps
 * the sums over its rows in registers. The sums of all blocks go to scratch memory, and a second
 * kernel adds them up, always in the same order. Without tensor cores, a matmul computes it.
 *
 * Elements of the next tile and rows of `inner` are copied to shared memory meanwhile. Each lane
 * copies the elements that it needs itself. Rows of `inner` are copied by the whole warp. The warps
 * of a block nevertheless wait for each other: they share rows, of which a warp has only 64 bytes,
 * and if they drift apart, DRAM is read in pieces and takes 1.7 times as long.
 */
enum {
    WARPS = 4,
    THREADS = 32 * WARPS,
    TILE_ROWS = 16,
    TILE_COLUMNS = 32,
    BLOCK_COLUMNS = WARPS * TILE_COLUMNS,
    LANE_ROWS = 2,    /* rows g and g + 8 of a tile, with g = lane / 4 */
    LANE_COLUMNS = 8, /* from 8 i on, with i = lane % 4 */
    PRODUCTS = TILE_COLUMNS / 8,
    PRODUCT_DEPTH = 16,
    STAGES = 2, /* tiles that are under way or being computed */
    SUM_THREADS = 256,
    SUM_COLUMNS = 4,  /* of a thread of the second kernel */
    SUMS_AT_ONCE = 8, /* that it loads together */
};

/* A struct yk_lora_term. */
template <typename T> struct term {
    struct yk_lora_inner<T> inner;
    const T *factor;
    bool transposed;
    float factor_scale; /* the one or the other is the scale of the term, the other 1 */
    float sum_scale;
};

template <typename T> struct tiles {
    uint32_t rows;
    uint32_t width;
    const T *gate_up;
    const T *d_out; /* backward */
    T *to;
    struct term<T> terms[3]; /* of gate, of up, and of the gradient of the result */
    /* Backward, the gradient of the factor of the last term, and sums for it. */
    T *d_factor;       /* (rank, width) */
    float *block_sums; /* (gridDim.y, rank, width) */
};

YK_DEVICE_INLINE uint32_t lane_of_thread(void)
{
    return threadIdx.x % 32;
}

YK_DEVICE_INLINE uint32_t warp_of_thread(void)
{
    return threadIdx.x / 32;
}

YK_DEVICE_INLINE uint32_t first_column_of_warp(void)
{
    return blockIdx.x * BLOCK_COLUMNS + warp_of_thread() * TILE_COLUMNS;
}

/* An element of a factor as (columns, rank), times its scale; 0 beyond its ends. */
template <typename T>
YK_DEVICE_INLINE T factor_at(const struct term<T> &term, uint32_t width, uint32_t column,
                             uint32_t k)
{
    if (column >= width || k >= term.inner.rank) {
        return yk_from_float<T>(0.0F);
    }
    const T element = term.transposed ? yk_lora_row_at(term.factor, k, width)[column]
                                      : yk_lora_row_at(term.factor, column, term.inner.rank)[k];
    return yk_from_float<T>(term.factor_scale * yk_to_float(element));
}

/* Elements of a tile, or sums that begin with them: rows g and g + 8 of two columns of a lane in
 * each product. Column i of row r, 0 or 1, of the lane is [i / 2][2 r + i % 2]. */
typedef float lane_sums[PRODUCTS][4];

/* Sums for the gradient of a factor: element [j][2 r + i % 2] is that of rank g + 8 r, with g =
 * lane / 4, and of column 2 j + i % 2 of the lane. */
template <int DEPTHS> struct lane_factor_sums {
    float depth[DEPTHS][PRODUCTS][4];
};

#if YK_HAS_TENSOR_CORES

/* The operands of a factor that a lane needs for all tiles, in registers or in shared memory. */
template <typename T, int DEPTHS, bool REGISTERS> struct factor_operands {
    static constexpr int count = DEPTHS * PRODUCTS;
    static constexpr bool registers = REGISTERS;
    static constexpr int shared_count = registers ? 0 : count * THREADS;
    uint2 held[registers ? count : 1];

    __device__ __forceinline__ void load(const struct term<T> &term, uint32_t width, uint2 *shared)
    {
        const uint32_t n = lane_of_thread() / 4; /* the column of a product */
#pragma unroll
        for (int i = 0; i < count; i++) {
            const uint32_t column = first_column_of_warp() + LANE_COLUMNS * (n / 2) +
                                    static_cast<uint32_t>(i % PRODUCTS) * 2 + n % 2;
            const uint32_t k =
                static_cast<uint32_t>(i / PRODUCTS) * PRODUCT_DEPTH + lane_of_thread() % 4 * 2;
            T numbers[4];
            for (uint32_t j = 0; j < 4; j++) {
                numbers[j] = factor_at(term, width, column, k + j / 2 * 8 + j % 2);
            }
            uint2 *to = registers ? &held[i] : &shared[i * THREADS + threadIdx.x];
            memcpy(to, numbers, sizeof *to);
        }
    }

    __device__ __forceinline__ uint2 get(int i, const uint2 *shared) const
    {
        return registers ? held[i] : shared[i * THREADS + threadIdx.x];
    }
};

/* Rows of `inner` of a tile, in shared memory. */
template <typename T, int DEPTHS> struct inner_rows {
    static constexpr uint32_t chunks = DEPTHS * PRODUCT_DEPTH / YK_LORA_CHUNK; /* of a row */
    static constexpr int count = TILE_ROWS * chunks;                           /* of a tile */

    /* Starts the copies of a tile. Rows that do not exist are the last one. */
    YK_DEVICE_INLINE void fetch(const struct term<T> &term, uint32_t tile, uint32_t rows, uint4 *to)
    {
#pragma unroll
        for (int j = 0; j < count / 32; j++) {
            const uint32_t i = static_cast<uint32_t>(j) * 32 + lane_of_thread();
            const uint32_t row = i / chunks;
            yk_lora_fetch_chunk(term.inner, min(tile * TILE_ROWS + row, rows - 1), i % chunks,
                                to + yk_lora_place_of<chunks>(row, i % chunks));
        }
    }

    /* sums += inner · factorᵀ */
    template <typename FACTOR>
    YK_DEVICE_INLINE void multiply(const uint4 *from, const FACTOR &factor,
                                   const uint2 *shared_factor, lane_sums &sums)
    {
        const uint32_t lane = lane_of_thread();
#pragma unroll
        for (int depth = 0; depth < DEPTHS; depth++) {
            const uint32_t chunk = static_cast<uint32_t>(2 * depth) + lane / 16;
            uint32_t operand[4];
            yk_load_four_matrices(
                yk_shared_memory_address(
                    from + yk_lora_place_of<chunks>(lane / 8 % 2 * 8 + lane % 8, chunk)),
                operand);
#pragma unroll
            for (int product = 0; product < PRODUCTS; product++) {
                const uint2 b = factor.get(depth * PRODUCTS + product, shared_factor);
                yk_mma<T>(sums[product], operand, b.x, b.y);
            }
        }
    }

    /* sums += innerᵀ · out, where the lane has its columns of rows g and g + 8 of `out`. */
    YK_DEVICE_INLINE void multiply_transposed(const uint4 *from, const uint4 (&out)[LANE_ROWS],
                                              struct lane_factor_sums<DEPTHS> &sums)
    {
        const uint32_t lane = lane_of_thread();
        uint32_t ranks_of_rows[DEPTHS][4];
#pragma unroll
        for (uint32_t i = 0; i < DEPTHS; i++) {
            /* Rows 0 to 7 of two chunks, then rows 8 to 15 of both. */
            const uint32_t place =
                yk_lora_place_of<chunks>(lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2);
            yk_load_four_matrices_transposed(yk_shared_memory_address(from + place),
                                             ranks_of_rows[i]);
        }
        const uint32_t low[PRODUCTS] = {out[0].x, out[0].y, out[0].z, out[0].w};
        const uint32_t high[PRODUCTS] = {out[1].x, out[1].y, out[1].z, out[1].w};
#pragma unroll
        for (int product = 0; product < PRODUCTS; product++) {
            const uint32_t b0 = yk_transpose_matrix(low[product]);
            const uint32_t b1 = yk_transpose_matrix(high[product]);
#pragma unroll
            for (int i = 0; i < DEPTHS; i++) {
                yk_mma<T>(sums.depth[i][product], ranks_of_rows[i], b0, b1);
            }
        }
    }
};

#else

/* Without tensor cores, and without shared memory. */
template <typename T, int DEPTHS, bool REGISTERS> struct factor_operands {
    static constexpr int shared_count = 0;
    __device__ __forceinline__ void load(const struct term<T> &, uint32_t, uint2 *)
    {
    }
};

template <typename T, int DEPTHS> struct inner_rows {
    YK_DEVICE_INLINE void fetch(const struct term<T> &, uint32_t, uint32_t, uint4 *)
    {
    }
};

template <typename T>
YK_DEVICE_INLINE void add_term(const struct term<T> &term, uint32_t width,
                               const uint32_t (&rows)[LANE_ROWS], lane_sums &sums)
{
    const uint32_t first = first_column_of_warp() + lane_of_thread() % 4 * LANE_COLUMNS;
#pragma unroll
    for (uint32_t i = 0; i < PRODUCTS * 4; i++) {
        const T *inner = yk_lora_row_at(term.inner.rows, rows[i % 4 / 2], term.inner.stride);
        for (uint32_t k = 0; k < term.inner.rank; k++) {
            sums[i / 4][i % 4] += yk_to_float(inner[k]) *
                                  yk_to_float(factor_at(term, width, first + i / 4 * 2 + i % 2, k));
        }
    }
}

#endif

/* What a lane does with its elements of gate, up and, backward, the gradient of the result. */
template <typename T, yk_activation ACTIVATION, bool BACKWARD, int DEPTHS> struct lane_work {
    static constexpr int matrices = BACKWARD ? 3 : 2;
    static constexpr int copies = LANE_ROWS * matrices; /* of 16 bytes, of a tile */
    static constexpr int inner_chunks =
        TILE_ROWS * DEPTHS * PRODUCT_DEPTH / YK_LORA_CHUNK; /* of a term */
    static constexpr int warp_chunks = matrices * inner_chunks;
    const struct tiles<T> &in;
    uint4 *stages;           /* in shared memory: (STAGES, copies, THREADS) */
    uint4 *inner;            /* in shared memory: (STAGES, WARPS, warp_chunks) */
    uint2 *shared_factors;   /* in shared memory, if they are not in registers */
    const T *from[matrices]; /* where the lane's columns of each matrix begin */
    T *to;                   /* where those of the result begin */
    bool has_columns;        /* if not, they are the first ones, and nothing is stored */
    /* With few of them and few sums, there are registers for factors. */
    using operands = factor_operands<T, DEPTHS, DEPTHS == 1 && !BACKWARD>;
    operands factors[matrices];
    struct lane_factor_sums<DEPTHS> factor_sums; /* backward */

    __device__ __forceinline__ uint4 *copy_at(int stage, int matrix, int row) const
    {
        return stages + (stage * copies + matrix * LANE_ROWS + row) * THREADS + threadIdx.x;
    }

    __device__ __forceinline__ uint4 *inner_at(int stage, int term) const
    {
        return inner + (stage * WARPS + static_cast<int>(warp_of_thread())) * warp_chunks +
               term * inner_chunks;
    }

    __device__ __forceinline__ uint2 *shared_factor(int term) const
    {
        return shared_factors + term * operands::shared_count;
    }

    /* The lane's rows of a tile; those that do not exist are the last one. */
    __device__ __forceinline__ void find_rows(uint32_t tile, uint32_t (&rows)[LANE_ROWS]) const
    {
        const uint32_t row = tile * TILE_ROWS + lane_of_thread() / 4;
        rows[0] = min(row, in.rows - 1);
        rows[1] = min(row + 8, in.rows - 1);
    }

    /* Starts the copies of a tile, if it exists. */
    __device__ __forceinline__ void fetch(uint32_t tile, int stage) const
    {
        if (tile * TILE_ROWS < in.rows) {
            uint32_t rows[LANE_ROWS];
            find_rows(tile, rows);
#pragma unroll
            for (int i = 0; i < copies; i++) {
                const int matrix = i / LANE_ROWS;
                const uint32_t stride = matrix == 2 ? in.width : 2 * in.width;
                yk_async_copy_16_bytes_of_line(copy_at(stage, matrix, i % LANE_ROWS),
                                               reinterpret_cast<const uint4 *>(yk_lora_row_at(
                                                   from[matrix], rows[i % LANE_ROWS], stride)));
            }
#pragma unroll
            for (int i = 0; i < matrices; i++) {
                inner_rows<T, DEPTHS>::fetch(in.terms[i], tile, in.rows, inner_at(stage, i));
            }
        }
        yk_async_copy_commit_group();
    }

    /* Reads the lane's elements of a matrix. */
    __device__ __forceinline__ void read(int stage, int matrix, lane_sums &sums) const
    {
#pragma unroll
        for (int row = 0; row < LANE_ROWS; row++) {
            float x[LANE_COLUMNS];
            yk_unpack_16_bytes_to_floats<T>(*copy_at(stage, matrix, row), x);
#pragma unroll
            for (int i = 0; i < LANE_COLUMNS; i++) {
                sums[i / 2][2 * row + i % 2] = x[i];
            }
        }
    }

    /* Multiplies all numbers; 1 costs nothing. */
    YK_DEVICE_INLINE void scale_sums(lane_sums &sums, float scale)
    {
        if (scale != 1.0F) {
#pragma unroll
            for (int i = 0; i < PRODUCTS * 4; i++) {
                sums[i / 4][i % 4] *= scale;
            }
        }
    }

    /* Adds a term to what was read of a matrix. */
    __device__ __forceinline__ void add(uint32_t tile, int stage, int matrix, lane_sums &sums) const
    {
        const float scale = in.terms[matrix].sum_scale;
        scale_sums(sums, 1.0F / scale);
#if YK_HAS_TENSOR_CORES
        inner_rows<T, DEPTHS>::multiply(inner_at(stage, matrix), factors[matrix],
                                        shared_factor(matrix), sums);
#else
        uint32_t rows[LANE_ROWS];
        find_rows(tile, rows);
        add_term(in.terms[matrix], in.width, rows, sums);
#endif
        scale_sums(sums, scale);
    }

    /* Computes a row of a tile and stores it. An element of d_gate_up may replace the one of
     * gate_up: the lane that writes it has read it, and no other lane needs it. Returns the result
     * of the forward pass, or 0 for a row that does not exist. */
    __device__ __forceinline__ uint4 finish_row(uint32_t tile, int row,
                                                const lane_sums (&sums)[matrices]) const
    {
        const uint32_t number = tile * TILE_ROWS + lane_of_thread() / 4 + 8 * row;
        T *out = yk_lora_row_at(to, number, BACKWARD ? 2 * in.width : in.width);
        float x[matrices][LANE_COLUMNS];
#pragma unroll
        for (int i = 0; i < matrices * LANE_COLUMNS; i++) {
            const int column = i % LANE_COLUMNS;
            x[i / LANE_COLUMNS][column] = sums[i / LANE_COLUMNS][column / 2][2 * row + column % 2];
        }
        if constexpr (BACKWARD) {
            yk_glu_backward<ACTIVATION, T>(x[0], x[1], x[2]);
            if (has_columns && number < in.rows) {
                *reinterpret_cast<uint4 *>(out) = yk_pack_floats_to_16_bytes<T>(x[0]);
                *reinterpret_cast<uint4 *>(out + in.width) = yk_pack_floats_to_16_bytes<T>(x[2]);
            }
        } else {
            yk_glu_forward<ACTIVATION, T>(x[0], x[1]);
            if (has_columns && number < in.rows) {
                *reinterpret_cast<uint4 *>(out) = yk_pack_floats_to_16_bytes<T>(x[1]);
            }
        }
        return number < in.rows ? yk_pack_floats_to_16_bytes<T>(x[1]) : make_uint4(0, 0, 0, 0);
    }

    /* Computes a tile, of which copies are under way. */
    __device__ __forceinline__ void compute(uint32_t tile, int stage)
    {
        lane_sums sums[matrices];
        yk_async_copy_wait_group<STAGES - 1>();
        __syncthreads(); /* rows of `inner` were copied by other lanes; see above */
#pragma unroll
        for (int i = 0; i < matrices; i++) {
            read(stage, i, sums[i]);
            add(tile, stage, i, sums[i]);
        }
        uint4 out[LANE_ROWS];
#pragma unroll
        for (int row = 0; row < LANE_ROWS; row++) {
            out[row] = finish_row(tile, row, sums);
        }
#if YK_HAS_TENSOR_CORES
        if constexpr (BACKWARD) {
            inner_rows<T, DEPTHS>::multiply_transposed(inner_at(stage, 2), out, factor_sums);
        }
#endif
    }

    /* Stores the sums for the gradient of the last factor. */
    __device__ __forceinline__ void store_factor_sums(void) const
    {
#if YK_HAS_TENSOR_CORES
        const uint32_t rank = in.terms[2].inner.rank;
        const uint32_t column = first_column_of_warp() + lane_of_thread() % 4 * LANE_COLUMNS;
#pragma unroll
        for (uint32_t i = 0; i < DEPTHS * 2; i++) {
            const uint32_t k = 8 * i + lane_of_thread() / 4;
            const lane_sums &sums = factor_sums.depth[i / 2];
            if (has_columns && k < rank) {
                float4 *to = reinterpret_cast<float4 *>(
                    yk_lora_row_at(in.block_sums, blockIdx.y * rank + k, in.width) + column);
                const uint32_t first = i % 2 * 2;
                to[0] = make_float4(sums[0][first], sums[0][first + 1], sums[1][first],
                                    sums[1][first + 1]);
                to[1] = make_float4(sums[2][first], sums[2][first + 1], sums[3][first],
                                    sums[3][first + 1]);
            }
        }
#endif
    }
};

template <typename T, yk_activation ACTIVATION, bool BACKWARD, int DEPTHS>
static __global__ void __launch_bounds__(THREADS, DEPTHS == 1 ? 4 : 2)
    glu_lora_tiles(struct tiles<T> in)
{
    extern __shared__ uint4 shared[];
    using work = lane_work<T, ACTIVATION, BACKWARD, DEPTHS>;
    const uint32_t column = first_column_of_warp() + lane_of_thread() % 4 * LANE_COLUMNS;
    const bool has_columns = column < in.width;
    const uint32_t first = has_columns ? column : 0;
    uint4 *inner = shared + STAGES * work::copies * THREADS;
    work lane = {in,
                 shared,
                 inner,
                 reinterpret_cast<uint2 *>(inner + STAGES * WARPS * work::warp_chunks),
                 {in.gate_up + first, in.gate_up + in.width + first},
                 in.to + first,
                 has_columns};
    if constexpr (BACKWARD) {
        lane.from[2] = in.d_out + first;
    }
    uint32_t tile = blockIdx.y;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        lane.fetch(tile + static_cast<uint32_t>(stage) * gridDim.y, stage);
    }
#pragma unroll
    for (int i = 0; i < work::matrices; i++) {
        lane.factors[i].load(in.terms[i], in.width, lane.shared_factor(i));
    }
    for (int stage = 0; tile * TILE_ROWS < in.rows; tile += gridDim.y) {
        __syncwarp(); /* all lanes have read the rows of `inner` that are overwritten now */
        lane.fetch(tile + (STAGES - 1) * gridDim.y, stage == 0 ? STAGES - 1 : stage - 1);
        lane.compute(tile, stage);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
    if constexpr (BACKWARD) {
        lane.store_factor_sums();
    }
}

/* Four elements at any address. */
template <typename T> struct unaligned_quarter {
    T numbers[SUM_COLUMNS];
};

/* Adds the sums of all groups, (groups, 4 · quarters), to the gradient of a factor. QUARTER is
 * unaligned_quarter<T> or, which is loaded and stored at once, yk_vector<T, SUM_COLUMNS>. */
template <typename QUARTER, typename T>
static __global__ void __launch_bounds__(SUM_THREADS)
    add_factor_sums(const float4 *sums, uint32_t groups, uint32_t quarters, float scale,
                    T *d_factor)
{
    const uint32_t i = blockIdx.x * SUM_THREADS + threadIdx.x;
    if (i >= quarters) {
        return;
    }
    QUARTER *to = reinterpret_cast<QUARTER *>(d_factor) + i;
    QUARTER result = *to;
    float4 sum = make_float4(0, 0, 0, 0);
    for (uint32_t first = 0; first < groups; first += SUMS_AT_ONCE) {
        float4 loaded[SUMS_AT_ONCE]; /* beyond the last group, of that one */
#pragma unroll
        for (uint32_t n = 0; n < SUMS_AT_ONCE; n++) {
            loaded[n] = sums[static_cast<uint64_t>(min(first + n, groups - 1)) * quarters + i];
        }
#pragma unroll
        for (uint32_t n = 0; n < SUMS_AT_ONCE; n++) {
            const bool counts = first + n < groups;
            sum.x += counts ? loaded[n].x : 0.0F;
            sum.y += counts ? loaded[n].y : 0.0F;
            sum.z += counts ? loaded[n].z : 0.0F;
            sum.w += counts ? loaded[n].w : 0.0F;
        }
    }
    const float total[SUM_COLUMNS] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int j = 0; j < SUM_COLUMNS; j++) {
        result.numbers[j] = yk_from_float<T>(yk_to_float(result.numbers[j]) + scale * total[j]);
    }
    *to = result;
}

template <bool BACKWARD, int DEPTHS, typename T, yk_activation ACTIVATION>
static void launch_activation(struct yk_backend_lane *lane, struct tiles<T> in)
{
    using work = lane_work<T, ACTIVATION, BACKWARD, DEPTHS>;
    const auto kernel = glu_lora_tiles<T, ACTIVATION, BACKWARD, DEPTHS>;
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    const bool tensor_cores = properties->code_capability >= 80;
    const size_t bytes =
        sizeof(uint4) * STAGES * work::copies * THREADS +
        (tensor_cores ? sizeof(uint4) * STAGES * WARPS * work::warp_chunks +
                            sizeof(uint2) * work::matrices * work::operands::shared_count
                      : 0);
    int together = 0;
    cudaError_t error = yk_allow_dynamic_shared_memory(reinterpret_cast<const void *>(kernel),
                                                       static_cast<int64_t>(bytes));
    YK_CUDA_CALL_UNLESS_FAILED(
        error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, kernel, THREADS, bytes));
    yk_cuda_lane_check_cuda_error(lane, error, BACKWARD ? "glu_backward" : "glu");
    if (error == cudaSuccess) {
        /* As many blocks as run at a time, or several times as many where that would leave many
         * places free. */
        const int64_t across = yk_number_ceil_div(in.width, BLOCK_COLUMNS);
        const int64_t places = static_cast<int64_t>(together) * properties->processors;
        const int64_t down = (places >= 4 * across ? places : 4 * places) / across;
        const int64_t tiles = yk_number_ceil_div(in.rows, TILE_ROWS);
        const dim3 grid(static_cast<unsigned>(across),
                        static_cast<unsigned>(yk_number_max(yk_number_min(down, tiles), 1)));
        const bool sums = BACKWARD && tensor_cores;
        const size_t count = static_cast<size_t>(in.terms[2].inner.rank) * in.width;
        if (sums) {
            in.block_sums = static_cast<float *>(
                yk_cuda_lane_get_scratch(lane, grid.y * count * sizeof(float)));
        }
        if (in.block_sums || !sums) {
            kernel<<<grid, THREADS, bytes, yk_cuda_lane_stream(lane)>>>(in);
        }
        if (in.block_sums) {
            const uint32_t quarters = static_cast<uint32_t>(count / SUM_COLUMNS);
            using quarter = yk_vector<T, SUM_COLUMNS>;
            const bool aligned = reinterpret_cast<uintptr_t>(in.d_factor) % alignof(quarter) == 0;
            const auto add =
                aligned ? add_factor_sums<quarter, T> : add_factor_sums<unaligned_quarter<T>, T>;
            add<<<yk_block_count(quarters, SUM_THREADS), SUM_THREADS, 0,
                  yk_cuda_lane_stream(lane)>>>(
                reinterpret_cast<const float4 *>(in.block_sums), grid.y, quarters,
                in.terms[2].factor_scale * in.terms[2].sum_scale, in.d_factor);
        }
    }
}

template <bool BACKWARD, int DEPTHS, typename T>
static void launch_depths(struct yk_backend_lane *lane, const struct tiles<T> &in,
                          enum yk_activation activation)
{
    if (activation == YK_ACTIVATION_SILU) {
        launch_activation<BACKWARD, DEPTHS, T, YK_ACTIVATION_SILU>(lane, in);
    } else if (activation == YK_ACTIVATION_GELU) {
        launch_activation<BACKWARD, DEPTHS, T, YK_ACTIVATION_GELU>(lane, in);
    } else {
        launch_activation<BACKWARD, DEPTHS, T, YK_ACTIVATION_GELU_TANH>(lane, in);
    }
}

template <bool BACKWARD, typename T>
static void launch(struct yk_backend_lane *lane, const struct tiles<T> &in,
                   enum yk_activation activation)
{
    static_assert(YK_LORA_TERM_MAX_RANK == 2 * PRODUCT_DEPTH, "two depths are enough");
    const int64_t rank = yk_number_max(
        in.terms[0].inner.rank, yk_number_max(in.terms[1].inner.rank, in.terms[2].inner.rank));
    if (rank <= PRODUCT_DEPTH) {
        launch_depths<BACKWARD, 1>(lane, in, activation);
    } else {
        launch_depths<BACKWARD, 2>(lane, in, activation);
    }
}

template <typename T> static void set_term(const struct yk_lora_term &given, struct term<T> *out)
{
    int exponent = 0;
    const bool exact =
        std::is_same<T, __nv_bfloat16>::value && frexpf(given.scale, &exponent) == 0.5F;
    out->inner = yk_lora_make_inner<T>(given.inner, given.inner_stride, given.rank);
    out->factor = static_cast<const T *>(given.factor);
    out->transposed = given.factor_transposed;
    out->factor_scale = exact ? given.scale : 1.0F;
    out->sum_scale = exact ? 1.0F : given.scale;
}

/* Sets what both ops have. */
template <typename T, typename OP>
static void set_tiles(const OP *op, void *to, struct tiles<T> *out)
{
    out->rows = static_cast<uint32_t>(op->rows);
    out->width = static_cast<uint32_t>(op->width);
    out->gate_up = static_cast<const T *>(op->gate_up);
    out->to = static_cast<T *>(to);
    set_term(op->gate_term, &out->terms[0]);
    set_term(op->up_term, &out->terms[1]);
}

/* Calls f with an element of the type, which has 16 bits. */
template <typename F> static void dispatch_16_bits(enum yk_precision type, F f)
{
    if (type == YK_PRECISION_FP16) {
        f(__half());
    } else {
        f(__nv_bfloat16());
    }
}

void yk_cuda_glu_lora(struct yk_backend_lane *lane, const struct yk_glu_op *op)
{
    dispatch_16_bits(op->type, [&](auto number) {
        using T = decltype(number);
        tiles<T> in = {};
        set_tiles(op, op->out, &in);
        launch<false>(lane, in, op->activation);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "glu");
}

void yk_cuda_glu_backward_lora(struct yk_backend_lane *lane, const struct yk_glu_backward_op *op)
{
    if (yk_cuda_lane_device_properties(lane)->code_capability < 80) { /* no tensor cores */
        const struct yk_matmul_op matmul = yk_ops_make_matmul_op_of_glu_backward(op);
        yk_cuda_matmul(lane, &matmul);
    }
    dispatch_16_bits(op->type, [&](auto number) {
        using T = decltype(number);
        tiles<T> in = {};
        set_tiles(op, op->d_gate_up, &in);
        in.d_out = static_cast<const T *>(op->d_out);
        in.d_factor = static_cast<T *>(op->d_factor);
        set_term(op->d_out_term, &in.terms[2]);
        launch<true>(lane, in, op->activation);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "glu_backward");
}
