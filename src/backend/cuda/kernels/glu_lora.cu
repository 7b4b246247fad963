#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/async_copy.cuh"
#include "backend/cuda/kernels/glu.cuh"
#include "backend/cuda/kernels/mma.cuh"

/*
 * Gated linear units with terms of LoRA adapters. A warp has tiles of 16 rows and 32 columns. It
 * reads gate and up, computes the terms of the tile on tensor cores, and adds them. Memory is the
 * limit: the terms cost little time as long as they are not in memory.
 *
 * The 32 columns of a tile are four products of 8 columns each. Which column of a product is which
 * of the tile is free: they are chosen so that the results of a lane are 8 neighbouring elements of
 * a row, which are 16 bytes. Of a rank, a lane has 4 neighbouring elements, for the same reason.
 *
 * All rows of a block need the same factors. They are in shared memory in the order in which lanes
 * pass them to tensor cores. Elements of the next tiles are copied to shared memory meanwhile. A
 * lane copies what it needs itself, so that nobody waits for others.
 */
enum {
    WARPS = 4,
    THREADS = 32 * WARPS,
    TILE_ROWS = 16,
    TILE_COLUMNS = 32,
    BLOCK_COLUMNS = WARPS * TILE_COLUMNS,
    LANE_ROWS = 2,    /* rows g and g + 8 of a tile, with g = lane / 4 */
    LANE_COLUMNS = 8, /* from 8 i on, with i = lane % 4 */
    LANE_RANK = 4,    /* elements of a rank in a product, from 4 i on */
    PRODUCTS = TILE_COLUMNS / 8,
    PRODUCT_DEPTH = 16,
    MAX_DEPTHS = YK_LORA_TERM_MAX_RANK / PRODUCT_DEPTH,
    STAGES = 3,    /* tiles that are under way or computed */
    MAX_WAVES = 4, /* of blocks that run together */
};

/* A struct yk_lora_term. */
template <typename T> struct term {
    const T *inner;
    const T *factor;
    uint32_t inner_stride;
    int rank;
    bool transposed;
    bool quads; /* LANE_RANK elements of `inner` may be read at once */
    float scale;
};

template <typename T> struct tiles {
    uint32_t rows;
    uint32_t width;
    const T *gate_up;
    const T *d_out; /* backward */
    T *to;
    struct term<T> terms[3]; /* of gate, of up, and of the gradient of the result */
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

/* base + row · stride, with one instruction. */
template <typename T> YK_DEVICE_INLINE T *row_at(T *base, uint32_t row, uint32_t stride)
{
    const uint32_t bytes = stride * static_cast<uint32_t>(sizeof(T));
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(base) +
                                 static_cast<uint64_t>(row) * bytes);
}

/* An element of a factor as (columns, rank); 0 beyond its ends. */
template <typename T>
YK_DEVICE_INLINE T factor_at(const struct term<T> &term, uint32_t width, uint32_t column, int k)
{
    if (column >= width || k >= term.rank) {
        return yk_from_float<T>(0.0F);
    }
    return term.transposed ? row_at(term.factor, static_cast<uint32_t>(k), width)[column]
                           : row_at(term.factor, column, static_cast<uint32_t>(term.rank))[k];
}

/* An element of a row of `inner`; 0 beyond its end. */
template <typename T> YK_DEVICE_INLINE T inner_at(const struct term<T> &term, uint32_t row, int k)
{
    return k < term.rank ? row_at(term.inner, row, term.inner_stride)[k] : yk_from_float<T>(0.0F);
}

#if YK_HAS_TENSOR_CORES

/* Where the lane's elements of a rank begin, in a product. */
YK_DEVICE_INLINE int lane_rank(int depth)
{
    return depth * PRODUCT_DEPTH + static_cast<int>(lane_of_thread() % 4) * LANE_RANK;
}

template <typename T> YK_DEVICE_INLINE uint2 pack_quad(const T (&numbers)[LANE_RANK])
{
    uint2 quad;
    memcpy(&quad, numbers, sizeof quad);
    return quad;
}

/* What a lane needs of `inner` for a tile: the operands of all depths. */
template <typename T, int DEPTHS> struct inner_operands {
    uint2 quads[DEPTHS][LANE_ROWS];

    __device__ __forceinline__ void load(const struct term<T> &term,
                                         const uint32_t (&rows)[LANE_ROWS])
    {
#pragma unroll
        for (int i = 0; i < DEPTHS * LANE_ROWS; i++) {
            const int k = lane_rank(i / LANE_ROWS);
            const uint32_t row = rows[i % LANE_ROWS];
            uint2 &quad = quads[i / LANE_ROWS][i % LANE_ROWS];
            if (!term.quads) {
                quad = pack_quad<T>({inner_at(term, row, k), inner_at(term, row, k + 1),
                                     inner_at(term, row, k + 2), inner_at(term, row, k + 3)});
            } else {
                quad = k < term.rank ? *reinterpret_cast<const uint2 *>(
                                           row_at(term.inner, row, term.inner_stride) + k)
                                     : make_uint2(0, 0);
            }
        }
    }

    /* Adds up inner · factorᵀ. */
    __device__ __forceinline__ void multiply(const struct term<T> &, uint32_t, const uint2 *factors,
                                             float (&sums)[PRODUCTS][4]) const
    {
#pragma unroll
        for (int depth = 0; depth < DEPTHS; depth++) {
            const uint2 &low = quads[depth][0];
            const uint2 &high = quads[depth][1];
            const uint32_t inner[4] = {low.x, high.x, low.y, high.y};
#pragma unroll
            for (int product = 0; product < PRODUCTS; product++) {
                const uint2 factor = factors[(depth * PRODUCTS + product) * THREADS + threadIdx.x];
                yk_mma<T>(sums[product], inner, factor.x, factor.y);
            }
        }
    }
};

/* Makes the lane's operands of a factor, of all depths and products. */
template <typename T, int DEPTHS>
static __device__ void load_factors(const struct term<T> &term, uint32_t width, uint2 *factors)
{
    const uint32_t n = lane_of_thread() / 4; /* the column of a product */
    for (int i = 0; i < DEPTHS * PRODUCTS; i++) {
        const uint32_t column = first_column_of_warp() + LANE_COLUMNS * (n / 2) +
                                2 * static_cast<uint32_t>(i % PRODUCTS) + n % 2;
        T numbers[LANE_RANK];
        for (int j = 0; j < LANE_RANK; j++) {
            numbers[j] = factor_at(term, width, column, lane_rank(i / PRODUCTS) + j);
        }
        factors[i * THREADS + threadIdx.x] = pack_quad(numbers);
    }
}

#else

/* The same without tensor cores, and without shared memory. */
template <typename T, int DEPTHS> struct inner_operands {
    uint32_t rows[LANE_ROWS];

    __device__ __forceinline__ void load(const struct term<T> &, const uint32_t (&of)[LANE_ROWS])
    {
        rows[0] = of[0];
        rows[1] = of[1];
    }

    __device__ __forceinline__ void multiply(const struct term<T> &term, uint32_t width,
                                             const uint2 *, float (&sums)[PRODUCTS][4]) const
    {
        const uint32_t first = first_column_of_warp() + lane_of_thread() % 4 * LANE_COLUMNS;
#pragma unroll
        for (int i = 0; i < PRODUCTS * 4; i++) {
            for (int k = 0; k < term.rank; k++) {
                sums[i / 4][i % 4] +=
                    yk_to_float(inner_at(term, rows[i % 4 / 2], k)) *
                    yk_to_float(factor_at(term, width,
                                          first + static_cast<uint32_t>(2 * (i / 4) + i % 2), k));
            }
        }
    }
};

template <typename T, int DEPTHS>
static __device__ void load_factors(const struct term<T> &, uint32_t, uint2 *)
{
}

#endif

/* The lane's rows of a tile; those that do not exist are the last one. */
YK_DEVICE_INLINE void find_rows(uint32_t tile, uint32_t count, uint32_t (&rows)[LANE_ROWS])
{
    const uint32_t row = tile * TILE_ROWS + lane_of_thread() / 4;
    rows[0] = min(row, count - 1);
    rows[1] = min(row + 8, count - 1);
}

/* What a lane does with its elements of gate, up and, backward, the gradient of the result. */
template <typename T, yk_activation ACTIVATION, bool BACKWARD, int DEPTHS> struct lane_work {
    static constexpr int matrices = BACKWARD ? 3 : 2;
    static constexpr int copies = LANE_ROWS * matrices;         /* of 16 bytes, of a tile */
    static constexpr int factors = DEPTHS * PRODUCTS * THREADS; /* of a term */
    const struct tiles<T> &in;
    uint4 *stages;           /* in shared memory: (STAGES, copies, THREADS) */
    uint2 *term_factors;     /* in shared memory: (matrices, factors) */
    const T *from[matrices]; /* where the lane's columns of each matrix begin */
    T *to;                   /* where those of the result begin */
    bool has_columns;        /* if not, they are the first ones, and nothing is stored */
    inner_operands<T, DEPTHS> inner[matrices]; /* of the tile that is computed next */

    __device__ __forceinline__ uint4 *copy_at(int stage, int matrix, int row) const
    {
        return stages + (stage * copies + matrix * LANE_ROWS + row) * THREADS + threadIdx.x;
    }

    /* Starts the copies of a tile, if it exists. */
    __device__ __forceinline__ void fetch(uint32_t tile, int stage) const
    {
        if (tile * TILE_ROWS < in.rows) {
            uint32_t rows[LANE_ROWS];
            find_rows(tile, in.rows, rows);
#pragma unroll
            for (int i = 0; i < copies; i++) {
                const int matrix = i / LANE_ROWS;
                const uint32_t stride = matrix == 2 ? in.width : 2 * in.width;
                yk_async_copy_16_bytes(copy_at(stage, matrix, i % LANE_ROWS),
                                       reinterpret_cast<const uint4 *>(
                                           row_at(from[matrix], rows[i % LANE_ROWS], stride)));
            }
        }
        yk_async_copy_commit_group();
    }

    /* x = a row of a matrix plus its term. */
    __device__ __forceinline__ void read_row(int stage, int matrix, int row,
                                             const float (&sums)[PRODUCTS][4],
                                             float (&x)[LANE_COLUMNS]) const
    {
        const float scale = in.terms[matrix].scale;
        yk_unpack_16_bytes_to_floats<T>(*copy_at(stage, matrix, row), x);
#pragma unroll
        for (int i = 0; i < LANE_COLUMNS; i++) {
            x[i] = fmaf(scale, sums[i / 2][2 * row + i % 2], x[i]);
        }
    }

    /* Computes a row of a tile and stores it. An element of d_gate_up may replace the one of
     * gate_up: the lane that writes it has read it, and no other lane needs it. */
    __device__ __forceinline__ void compute_row(uint32_t tile, int stage, int row,
                                                const float (&sums)[matrices][PRODUCTS][4]) const
    {
        const uint32_t number = tile * TILE_ROWS + lane_of_thread() / 4 + 8 * row;
        T *out = row_at(to, number, BACKWARD ? 2 * in.width : in.width);
        float g[LANE_COLUMNS];
        float u[LANE_COLUMNS];
        read_row(stage, 0, row, sums[0], g);
        read_row(stage, 1, row, sums[1], u);
        if constexpr (BACKWARD) {
            float d[LANE_COLUMNS];
            read_row(stage, 2, row, sums[2], d);
            yk_glu_backward<ACTIVATION, T>(g, u, d);
            if (has_columns && number < in.rows) {
                *reinterpret_cast<uint4 *>(out) = yk_pack_floats_to_16_bytes<T>(g);
                *reinterpret_cast<uint4 *>(out + in.width) = yk_pack_floats_to_16_bytes<T>(d);
            }
        } else {
            yk_glu_forward<ACTIVATION, T>(g, u);
            if (has_columns && number < in.rows) {
                *reinterpret_cast<uint4 *>(out) = yk_pack_floats_to_16_bytes<T>(u);
            }
        }
    }

    __device__ __forceinline__ void load_inner(uint32_t tile)
    {
        uint32_t rows[LANE_ROWS];
        find_rows(tile, in.rows, rows);
#pragma unroll
        for (int i = 0; i < matrices; i++) {
            inner[i].load(in.terms[i], rows);
        }
    }

    /* Computes a tile, of which copies and `inner` are under way. `next` is the tile whose `inner`
     * is loaded meanwhile. */
    __device__ __forceinline__ void compute(uint32_t tile, int stage, uint32_t next)
    {
        float sums[matrices][PRODUCTS][4] = {};
        yk_async_copy_wait_group<STAGES - 1>();
#pragma unroll
        for (int i = 0; i < matrices; i++) {
            inner[i].multiply(in.terms[i], in.width, term_factors + i * factors, sums[i]);
        }
        load_inner(next);
#pragma unroll
        for (int row = 0; row < LANE_ROWS; row++) {
            compute_row(tile, stage, row, sums);
        }
    }
};

template <typename T, yk_activation ACTIVATION, bool BACKWARD, int DEPTHS>
static __global__ void __launch_bounds__(THREADS, DEPTHS == 1 ? 4 : 3)
    glu_lora_tiles(struct tiles<T> in)
{
    extern __shared__ uint4 shared[];
    using work = lane_work<T, ACTIVATION, BACKWARD, DEPTHS>;
    const uint32_t column = first_column_of_warp() + lane_of_thread() % 4 * LANE_COLUMNS;
    const bool has_columns = column < in.width;
    const uint32_t first = has_columns ? column : 0;
    work lane = {in,
                 shared,
                 reinterpret_cast<uint2 *>(shared + STAGES * work::copies * THREADS),
                 {in.gate_up + first, in.gate_up + in.width + first},
                 in.to + first,
                 has_columns};
    if constexpr (BACKWARD) {
        lane.from[2] = in.d_out + first;
    }
    const uint32_t step = gridDim.y;
    uint32_t tile = blockIdx.y;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        lane.fetch(tile + static_cast<uint32_t>(stage) * step, stage);
    }
    lane.load_inner(tile);
    for (int i = 0; i < work::matrices; i++) {
        load_factors<T, DEPTHS>(in.terms[i], in.width, lane.term_factors + i * work::factors);
    }
    for (int stage = 0; tile * TILE_ROWS < in.rows; tile += step) {
        lane.fetch(tile + (STAGES - 1) * step, stage == 0 ? STAGES - 1 : stage - 1);
        lane.compute(tile, stage, tile + step);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
}

/* How many blocks share the rows, if `across` share the columns and `together` run at a time: so
 * that the last ones leave the shortest gap. */
static int64_t blocks_down(int64_t tiles, int64_t across, int64_t together)
{
    int64_t best = 1;
    double best_part = 0;
    for (int64_t waves = 1; waves <= MAX_WAVES; waves++) {
        const int64_t down = yk_number_min(waves * together / across, tiles);
        const double part = static_cast<double>(down * across) /
                            static_cast<double>(waves * yk_number_max(together, 1));
        best = part > best_part ? down : best;
        best_part = part > best_part ? part : best_part;
    }
    return yk_number_min(best, 65535);
}

template <bool BACKWARD, int DEPTHS, typename T, yk_activation ACTIVATION>
static void launch_activation(struct yk_backend_lane *lane, const struct tiles<T> &in)
{
    using work = lane_work<T, ACTIVATION, BACKWARD, DEPTHS>;
    const auto kernel = glu_lora_tiles<T, ACTIVATION, BACKWARD, DEPTHS>;
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    /* GPUs without tensor cores keep no factors. */
    const size_t bytes =
        sizeof(uint4) * STAGES * work::copies * THREADS +
        (properties->capability >= 80 ? sizeof(uint2) * work::matrices * work::factors : 0);
    int together = 0;
    cudaError_t error = yk_allow_dynamic_shared_memory(reinterpret_cast<const void *>(kernel),
                                                       static_cast<int64_t>(bytes));
    YK_CUDA_CALL_UNLESS_FAILED(
        error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&together, kernel, THREADS, bytes));
    yk_cuda_lane_check_cuda_error(lane, error, "glu");
    if (error == cudaSuccess) {
        const int64_t across = yk_number_ceil_div(in.width, BLOCK_COLUMNS);
        const int64_t down = blocks_down(yk_number_ceil_div(in.rows, TILE_ROWS), across,
                                         static_cast<int64_t>(together) * properties->processors);
        const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
        kernel<<<grid, THREADS, bytes, yk_cuda_lane_stream(lane)>>>(in);
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
    const int rank = yk_number_max(in.terms[0].rank, BACKWARD ? in.terms[2].rank : 0);
    if (rank <= PRODUCT_DEPTH) {
        launch_depths<BACKWARD, 1>(lane, in, activation);
    } else if (rank <= 2 * PRODUCT_DEPTH) {
        launch_depths<BACKWARD, 2>(lane, in, activation);
    } else {
        launch_depths<BACKWARD, MAX_DEPTHS>(lane, in, activation);
    }
}

template <typename T> static struct term<T> make_term(const struct yk_lora_term &given) {
    const T *inner = static_cast<const T *>(given.inner);
    const bool quads = given.rank % LANE_RANK == 0 && given.inner_stride % LANE_RANK == 0 &&
                       reinterpret_cast<uintptr_t>(inner) % sizeof(uint2) == 0;
    return {inner,
            static_cast<const T *>(given.factor),
            static_cast<uint32_t>(given.inner_stride),
            static_cast<int>(given.rank),
            given.factor_transposed,
            quads,
            given.scale};
}

/* Calls f with an element of the type, which has 16 bits. */
template <typename F>
static void dispatch_16_bits(enum yk_precision type, F f)
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
        struct tiles<T> in = {
        };
        in.rows = static_cast<uint32_t>(op->rows);
        in.width = static_cast<uint32_t>(op->width);
        in.gate_up = static_cast<const T *>(op->gate_up);
        in.to = static_cast<T *>(op->out);
        in.terms[0] = make_term<T>(op->gate_term);
        in.terms[1] = make_term<T>(op->up_term);
        launch<false>(lane, in, op->activation);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "glu");
}

void yk_cuda_glu_backward_lora(struct yk_backend_lane *lane, const struct yk_glu_backward_op *op)
{
    dispatch_16_bits(op->type, [&](auto number) {
        using T = decltype(number);
        struct tiles<T> in = {
        };
        in.rows = static_cast<uint32_t>(op->rows);
        in.width = static_cast<uint32_t>(op->width);
        in.gate_up = static_cast<const T *>(op->gate_up);
        in.d_out = static_cast<const T *>(op->d_out);
        in.to = static_cast<T *>(op->d_gate_up);
        in.terms[0] = make_term<T>(op->gate_term);
        in.terms[1] = make_term<T>(op->up_term);
        in.terms[2] = make_term<T>(op->d_out_term);
        launch<true>(lane, in, op->activation);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "glu_backward");
}
