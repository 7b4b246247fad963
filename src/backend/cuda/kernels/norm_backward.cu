/*
 * Norm backward. With n = (x − mean) · rstd and g = dy · (weight + weight_offset):
 *   dx       = add + rstd · (g − mean(g) − n · mean(g · n)), RMS without mean(g),
 *   d_weight = the sum over rows of dy · n, d_bias that of dy
 * (Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019).
 *
 * A row is held by a team of threads in shared memory, where the next row is copied to while one is
 * worked on: registers hold the weights of a thread's columns and their sums over its rows. A
 * block's sums go to scratch, (blocks, 2, width), and are added up by a kernel of their own. dx may
 * be dy or add: a thread reads what it needs of a place before it writes there. Rows that do not
 * fit go the slow way: the columns first, then the rows, number by number. Rows of several short
 * groups have kernels of their own, in grouped_norm_backward.cu.
 */
#include "backend/cuda/kernels/async_copy.cuh"
#include "backend/cuda/kernels/partial_sums.cuh"

/* What is summed over a row: g · n and, but in RMS norms, g. */
enum {
    ROW_GN,
    RMS_ROW_SUMS,
    ROW_G = RMS_ROW_SUMS,
    ROW_SUMS,
};

/* d_weight and d_bias from (groups, 2, width) sums. */
static inline void add_column_sums(struct yk_backend_lane *lane,
                                   const struct yk_norm_backward_op *op, const float *partials,
                                   int64_t groups)
{
    const struct yk_partial_sums sums = {
        partials,       op->width, static_cast<int32_t>(groups), 2, {op->d_weight, op->d_bias},
        op->weight_type};
    yk_partial_sums_enqueue_final_sum(yk_cuda_lane_stream(lane), &sums);
}

/* ---- rows in shared memory ---- */

enum {
    FEW_CHUNKS = 3,        /* chunks a thread holds at most, if the row is not too long */
    RESERVED_BYTES = 2048, /* shared memory of a block for its sums, and what the system keeps */
};

/* What a kernel is compiled for. */
template <typename TYPE, int COUNT, bool IS_RMS, bool HAS_SUMS> struct row_kind {
    using T = TYPE;
    static constexpr int chunks = COUNT;   /* of a thread */
    static constexpr bool rms = IS_RMS;    /* all means are 0, and there is no bias */
    static constexpr bool sums = HAS_SUMS; /* of columns */
    static constexpr int row_sums = rms ? RMS_ROW_SUMS : ROW_SUMS;
    static constexpr int N = yk_vector_16_bytes<T>::count;
    /* Of an SM. Registers for many columns, or for their sums, leave room for fewer. */
    static constexpr int blocks = chunks > FEW_CHUNKS || (sums && (chunks == FEW_CHUNKS || !rms))
                                      ? 2
                                      : 3;
};

/* What is fetched of a row; ADD only where there is something to add. */
enum {
    X,
    DY,
    FETCHED_NO_ADD,
    ADD = FETCHED_NO_ADD,
    FETCHED,
};

static inline __host__ __device__ int fetched_of(const struct yk_norm_backward_op &op)
{
    return op.add ? FETCHED : FETCHED_NO_ADD;
}

/* Where a thread stands: it holds chunks place, place + step … below `chunks` of its team's row. */
struct position {
    int chunks;
    int place;
    int step;
    int team;
    int teams; /* of the block */
};

/* Sums over the rows a thread has seen, of the columns it holds. */
template <typename KIND> struct column_sums {
    float weight[KIND::chunks][KIND::N];
    float bias[KIND::chunks][KIND::N];
};

/* Of a row. */
struct statistics {
    float mean;
    float rstd;
};

YK_DEVICE_INLINE struct statistics statistics_of(const struct yk_norm_backward_op &op, int64_t row)
{
    const bool real = row < op.rows;
    return {real && op.mean ? op.mean[row] : 0.0F, real ? op.rstd[row] : 0.0F};
}

/* Shared memory for rows, (stages, fetched, CHUNKS, threads): a thread only sees what is its own.
 */
template <int CHUNKS> struct row_stages {
    uint4 *places;
    int fetched;

    __device__ __forceinline__ uint4 *at(int stage, int what, int i) const
    {
        return places + ((stage * fetched + what) * CHUNKS + i) * YK_WARP_TEAM_BLOCK_THREADS +
               threadIdx.x;
    }

    template <typename T>
    __device__ __forceinline__ yk_vector_16_bytes<T> get(int stage, int what, int i) const
    {
        return *reinterpret_cast<const yk_vector_16_bytes<T> *>(at(stage, what, i));
    }
};

/* Asks for a row, which is a group even if it is not there. */
template <typename T, int CHUNKS>
YK_DEVICE_INLINE void fetch_row(const struct yk_norm_backward_op &op, int64_t row,
                                const struct position &position,
                                const struct row_stages<CHUNKS> &row_stages, int stage)
{
    const int count = row < op.rows ? position.chunks : 0;
    constexpr int N = yk_vector_16_bytes<T>::count;
    const T *x = static_cast<const T *>(op.x) + row * op.x_stride;
    const T *dy = static_cast<const T *>(op.dy) + row * op.dy_stride;
    const T *add = static_cast<const T *>(op.add) + row * op.dx_stride;
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) {
        const int chunk = position.place + i * position.step;
        if (chunk < count) {
            yk_async_copy_16_bytes(row_stages.at(stage, X, i),
                                   reinterpret_cast<const uint4 *>(x + chunk * N));
            yk_async_copy_16_bytes(row_stages.at(stage, DY, i),
                                   reinterpret_cast<const uint4 *>(dy + chunk * N));
            if (op.add) {
                yk_async_copy_16_bytes(row_stages.at(stage, ADD, i),
                                       reinterpret_cast<const uint4 *>(add + chunk * N));
            }
        }
    }
    yk_async_copy_commit_group();
}

/* The weights of a thread's columns, one by one: they may lie anywhere. */
template <int CHUNKS, int N>
YK_DEVICE_INLINE void load_weights(const struct yk_norm_backward_op &op,
                                   const struct position &position, float (&out)[CHUNKS][N])
{
    yk_dispatch_type(op.weight_type, [&](auto number) {
        const auto *weights = static_cast<const decltype(number) *>(op.weight);
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            const int chunk = position.place + i * position.step;
#pragma unroll
            for (int j = 0; j < N; j++) {
                out[i][j] = chunk < position.chunks
                                ? yk_to_float(weights[chunk * N + j]) + op.weight_offset
                                : 0.0F;
            }
        }
    });
}

/* Adds a chunk's share to the sums of its row and of its columns. The sum of g · n is still to be
 * multiplied by rstd in RMS norms. */
template <typename KIND>
YK_DEVICE_INLINE void sum_chunk(const yk_vector_16_bytes<typename KIND::T> &x,
                                const yk_vector_16_bytes<typename KIND::T> &dy,
                                const struct statistics &of, const float (&weights)[KIND::N],
                                float (&row)[KIND::row_sums], float (&d_weight)[KIND::N],
                                float (&d_bias)[KIND::N])
{
#pragma unroll
    for (int i = 0; i < KIND::N; i++) {
        const float from = yk_to_float(x.numbers[i]);
        const float n = KIND::rms ? from : (from - of.mean) * of.rstd;
        const float d = yk_to_float(dy.numbers[i]);
        const float g = d * weights[i];
        row[ROW_GN] += g * n;
        if constexpr (!KIND::rms) {
            row[ROW_G] += g;
        }
        if (KIND::sums) {
            d_weight[i] += d * (KIND::rms ? n * of.rstd : n);
            d_bias[i] += KIND::rms ? 0.0F : d;
        }
    }
}

/* dx of a chunk. */
template <typename KIND>
YK_DEVICE_INLINE yk_vector_16_bytes<typename KIND::T>
pass_chunk(const yk_vector_16_bytes<typename KIND::T> &x,
           const yk_vector_16_bytes<typename KIND::T> &dy,
           const yk_vector_16_bytes<typename KIND::T> &add, const struct statistics &of,
           const float (&weights)[KIND::N], float g_mean, float gn_mean)
{
    yk_vector_16_bytes<typename KIND::T> dx;
    const float x_factor = of.rstd * gn_mean;
#pragma unroll
    for (int i = 0; i < KIND::N; i++) {
        const float from = yk_to_float(x.numbers[i]);
        const float g = yk_to_float(dy.numbers[i]) * weights[i];
        const float rest =
            KIND::rms ? g - from * x_factor : g - g_mean - (from - of.mean) * of.rstd * gn_mean;
        dx.numbers[i] =
            yk_from_float<typename KIND::T>(yk_to_float(add.numbers[i]) + of.rstd * rest);
    }
    return dx;
}

/* One row of every team, which is there in `stage`: dx, and the row's share of the columns' sums.
 */
template <typename KIND>
YK_DEVICE_INLINE void backward_row(const struct yk_norm_backward_op &op, int64_t row,
                                   const struct statistics &of, const struct position &position,
                                   const float (&weights)[KIND::chunks][KIND::N],
                                   const struct row_stages<KIND::chunks> &row_stages, int stage,
                                   float (*scratch)[KIND::row_sums], struct column_sums<KIND> &sums)
{
    using T = typename KIND::T;
    const int count = row < op.rows ? position.chunks : 0;
    float row_sums[KIND::row_sums] = {};
#pragma unroll
    for (int i = 0; i < KIND::chunks; i++) {
        if (position.place + i * position.step < count) {
            sum_chunk<KIND>(row_stages.template get<T>(stage, X, i),
                            row_stages.template get<T>(stage, DY, i), of, weights[i], row_sums,
                            sums.weight[i], sums.bias[i]);
        }
    }
    yk_warp_team_reduce_sums(row_sums, position.step / 32, scratch);
    float g_mean = 0.0F;
    if constexpr (!KIND::rms) {
        g_mean = row_sums[ROW_G] / static_cast<float>(op.width);
    }
    const float gn_mean =
        (KIND::rms ? of.rstd : 1.0F) * row_sums[ROW_GN] / static_cast<float>(op.width);
    /* It is read again: registers are for what stays. */
    asm volatile("" ::: "memory");
#pragma unroll
    for (int i = 0; i < KIND::chunks; i++) {
        const int chunk = position.place + i * position.step;
        if (chunk < count) {
            const yk_vector_16_bytes<T> add =
                op.add ? row_stages.template get<T>(stage, ADD, i) : yk_vector_16_bytes<T>();
            yk_store_16_bytes(static_cast<T *>(op.dx) + row * op.dx_stride + chunk * KIND::N,
                              pass_chunk<KIND>(row_stages.template get<T>(stage, X, i),
                                               row_stages.template get<T>(stage, DY, i), add, of,
                                               weights[i], g_mean, gn_mean));
        }
    }
}

/* Adds up one of the sums of the block's teams, one team after the other, in shared memory that is
 * free by now, and leaves it in scratch at `to` (width). */
template <typename T, int CHUNKS>
YK_DEVICE_INLINE void leave(const float (&sums)[CHUNKS][yk_vector_16_bytes<T>::count],
                            const struct position &position, float4 *shared, float *to)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    for (int team = 0; team < position.teams; team++) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            const int chunk = position.place + i * position.step;
            if (team != position.team || chunk >= position.chunks) {
                continue;
            }
#pragma unroll
            for (int quarter = 0; quarter < N / 4; quarter++) {
                float4 *between = shared + quarter * position.chunks + chunk;
                float4 *end = reinterpret_cast<float4 *>(to + chunk * N) + quarter;
                const float *own = sums[i] + 4 * quarter;
                float4 total = make_float4(own[0], own[1], own[2], own[3]);
                if (team > 0) {
                    const float4 before = *between;
                    total = make_float4(before.x + total.x, before.y + total.y, before.z + total.z,
                                        before.w + total.w);
                }
                *(team + 1 < position.teams ? between : end) = total;
            }
        }
    }
}

/* x, dy and dx are of the kind's type. The block's teams go from row to row together; `prefetch`
 * rows, 0 or 1, are copied before they are needed. */
template <typename KIND>
static __global__ void __launch_bounds__(YK_WARP_TEAM_BLOCK_THREADS, KIND::blocks)
    register_rows(struct yk_norm_backward_op op, int team_warps, int prefetch, float *partials)
{
    using T = typename KIND::T;
    extern __shared__ float4 shared[];
    __shared__ float scratch[2][YK_WARP_TEAM_MAX_WARPS][KIND::row_sums];
    const int width = static_cast<int>(op.width);
    const int threads = team_warps * 32;
    const struct position position = {width / KIND::N, static_cast<int>(threadIdx.x) % threads,
                                      threads, static_cast<int>(threadIdx.x) / threads,
                                      YK_WARP_TEAM_BLOCK_THREADS / threads};
    struct row_stages<KIND::chunks> row_stages;
    row_stages.places = reinterpret_cast<uint4 *>(shared);
    row_stages.fetched = fetched_of(op);
    const int64_t step = static_cast<int64_t>(gridDim.x) * position.teams;
    int64_t row = static_cast<int64_t>(blockIdx.x) * position.teams + position.team;
    struct statistics next = statistics_of(op, row);
    float weights[KIND::chunks][KIND::N];
    auto sums = column_sums<KIND>(); /* all 0 */
    if (prefetch > 0) {
        fetch_row<T>(op, row, position, row_stages, 0);
    }
    load_weights(op, position, weights);
    for (int turn = 0; row - position.team < op.rows; turn++) {
        const struct statistics of = next;
        fetch_row<T>(op, row + prefetch * step, position, row_stages, (turn + prefetch) & prefetch);
        next = statistics_of(op, row + step);
        yk_async_copy_wait_all_but(prefetch);
        backward_row<KIND>(op, row, of, position, weights, row_stages, turn & prefetch,
                           scratch[turn & 1], sums);
        row += step;
    }
    if (KIND::sums) {
        float *to = partials + static_cast<int64_t>(blockIdx.x) * 2 * width;
        leave<T, KIND::chunks>(sums.weight, position, shared, to);
        if (op.d_bias) {
            leave<T, KIND::chunks>(sums.bias, position, shared, to + width);
        }
    }
}

/* Prefetches where there is shared memory for all blocks. False where there is none for even a row
 * of one block. */
template <typename KIND>
static bool load_registers(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op,
                           int team_warps)
{
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    const auto kernel = register_rows<KIND>;
    const int64_t shared = static_cast<int64_t>(properties->shared_bytes);
    const int64_t stage_bytes = fetched_of(*op) * KIND::chunks * YK_WARP_TEAM_BLOCK_THREADS * 16;
    const int prefetch = KIND::blocks * (2 * stage_bytes + RESERVED_BYTES) <= shared ? 1 : 0;
    const int64_t bytes = (1 + prefetch) * stage_bytes;
    const int64_t blocks = yk_number_ceil_div(op->rows, YK_WARP_TEAM_MAX_WARPS / team_warps);
    const int64_t together = yk_number_min(KIND::blocks, shared / (bytes + RESERVED_BYTES));
    const unsigned grid =
        static_cast<unsigned>(yk_number_min(blocks, properties->processors * together));
    float *partials = nullptr;
    if (together == 0) {
        return false;
    }
    if (KIND::sums) {
        const size_t sums_bytes = static_cast<size_t>(op->width) * 2 * sizeof(float);
        partials = static_cast<float *>(yk_cuda_lane_get_scratch(lane, grid * sums_bytes));
    }
    /* The same size every time: other lanes may be at it. */
    if ((KIND::sums && !partials) ||
        !yk_cuda_lane_check_cuda_error(
            lane,
            yk_allow_dynamic_shared_memory(reinterpret_cast<const void *>(kernel),
                                           shared - RESERVED_BYTES),
            "norm_backward")) {
        return true;
    }
    kernel<<<grid, YK_WARP_TEAM_BLOCK_THREADS, static_cast<size_t>(bytes),
             yk_cuda_lane_stream(lane)>>>(*op, team_warps, prefetch, partials);
    if (KIND::sums) {
        add_column_sums(lane, op, partials, grid);
    }
    return true;
}

template <typename T, bool RMS, bool SUMS>
static bool backward_registers(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op)
{
    const int64_t chunks = op->width / yk_vector_16_bytes<T>::count;
    if (chunks > YK_WARP_TEAM_BLOCK_THREADS * FEW_CHUNKS) {
        using longest = row_kind<T, YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD, RMS, SUMS>;
        return load_registers<longest>(lane, op, YK_WARP_TEAM_MAX_WARPS);
    }
    const int team_warps = yk_warp_team_warp_count(chunks, FEW_CHUNKS);
    return chunks > team_warps * 32 * (FEW_CHUNKS - 1)
               ? load_registers<row_kind<T, FEW_CHUNKS, RMS, SUMS>>(lane, op, team_warps)
               : load_registers<row_kind<T, FEW_CHUNKS - 1, RMS, SUMS>>(lane, op, team_warps);
}

template <typename T, bool RMS>
static bool backward_registers_of_kind(struct yk_backend_lane *lane,
                                       const struct yk_norm_backward_op *op)
{
    return op->d_weight || op->d_bias ? backward_registers<T, RMS, true>(lane, op)
                                      : backward_registers<T, RMS, false>(lane, op);
}

/* False where rows do not fit, and then nothing was done. */
static bool run_registers(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op)
{
    bool row_registers = false;
    if (op->x_type == op->y_type && op->groups == 1) {
        yk_dispatch_type(op->x_type, [&](auto number) {
            using T = decltype(number);
            row_registers = op->width % yk_vector_16_bytes<T>::count == 0 &&
                            yk_are_rows_16_byte_aligned<T>(op->x, op->x_stride) &&
                            yk_are_rows_16_byte_aligned<T>(op->dy, op->dy_stride) &&
                            yk_are_rows_16_byte_aligned<T>(op->dx, op->dx_stride) &&
                            yk_are_rows_16_byte_aligned<T>(op->add, op->dx_stride) &&
                            op->width / yk_vector_16_bytes<T>::count <= YK_WARP_TEAM_MAX_CHUNKS &&
                            (op->mean ? backward_registers_of_kind<T, false>(lane, op)
                                      : backward_registers_of_kind<T, true>(lane, op));
        });
    }
    return row_registers;
}

/* ---- the slow way ---- */

enum {
    SLOW_BLOCKS = 8,          /* of an SM */
    COLUMN_LANES = 32,        /* columns of a block */
    COLUMN_STEPS = 8,         /* its threads that share a column's rows */
    PARTIAL_BYTES = 32 << 20, /* at most */
    PARTIAL_GROUPS = 64,      /* parts at most, each with a sum of every column */
};

/* The place of a group in a matrix with this stride. Without GROUPED, a row is one group. */
template <bool GROUPED>
YK_DEVICE_INLINE int64_t start_of(const struct yk_norm_backward_op &op, int64_t group,
                                  int64_t stride)
{
    return GROUPED ? group / op.groups * stride + group % op.groups * op.width : group * stride;
}

/* Sums of columns: a block takes 32 of them, and part blockIdx.y of all groups. */
template <bool GROUPED>
static __global__ void __launch_bounds__(COLUMN_LANES *COLUMN_STEPS)
    walk_columns(struct yk_norm_backward_op op, int64_t part_groups, float *partials)
{
    __shared__ float sums[2][COLUMN_STEPS][COLUMN_LANES];
    const int lane = threadIdx.x % COLUMN_LANES;
    const int turn = threadIdx.x / COLUMN_LANES;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * COLUMN_LANES + lane;
    const int64_t groups = op.rows * op.groups;
    const int64_t first = blockIdx.y * part_groups;
    const int64_t end = first + part_groups < groups ? first + part_groups : groups;
    float weight_sum = 0;
    float bias_sum = 0;
    if (column < op.width) {
        for (int64_t group = first + turn; group < end; group += COLUMN_STEPS) {
            const float mean = op.mean ? op.mean[group] : 0.0F;
            const float d = yk_typed_load_one(op.y_type, op.dy,
                                              start_of<GROUPED>(op, group, op.dy_stride) + column);
            const float x = yk_typed_load_one(op.x_type, op.x,
                                              start_of<GROUPED>(op, group, op.x_stride) + column);
            weight_sum += d * ((x - mean) * op.rstd[group]);
            bias_sum += d;
        }
    }
    sums[0][turn][lane] = weight_sum;
    sums[1][turn][lane] = bias_sum;
    __syncthreads();
    if (turn < 2 && column < op.width) {
        float total = 0;
        for (int i = 0; i < COLUMN_STEPS; i++) {
            total += sums[turn][i][lane];
        }
        partials[(blockIdx.y * 2 + turn) * op.width + column] = total;
    }
}

/* dx: a block a group, whose threads are one team. */
template <bool GROUPED>
static __global__ void __launch_bounds__(YK_WARP_TEAM_BLOCK_THREADS)
    walk_rows(struct yk_norm_backward_op op)
{
    __shared__ float scratch[2][YK_WARP_TEAM_MAX_WARPS][ROW_SUMS];
    int turn = 0;
    for (int64_t group = blockIdx.x; group < op.rows * op.groups; group += gridDim.x) {
        const int64_t x_start = start_of<GROUPED>(op, group, op.x_stride);
        const int64_t dy_start = start_of<GROUPED>(op, group, op.dy_stride);
        const int64_t dx_start = start_of<GROUPED>(op, group, op.dx_stride);
        const float mean = op.mean ? op.mean[group] : 0.0F;
        const float rstd = op.rstd[group];
        float sums[ROW_SUMS] = {0, 0};
        for (int64_t i = threadIdx.x; i < op.width; i += YK_WARP_TEAM_BLOCK_THREADS) {
            const float n = (yk_typed_load_one(op.x_type, op.x, x_start + i) - mean) * rstd;
            const float g = yk_typed_load_one(op.y_type, op.dy, dy_start + i) *
                            (yk_typed_load_one(op.weight_type, op.weight, i) + op.weight_offset);
            sums[ROW_G] += g;
            sums[ROW_GN] += g * n;
        }
        yk_warp_team_reduce_sums(sums, YK_WARP_TEAM_MAX_WARPS, scratch[turn++ & 1]);
        const float g_mean = op.mean ? sums[ROW_G] / static_cast<float>(op.width) : 0.0F;
        const float gn_mean = sums[ROW_GN] / static_cast<float>(op.width);
        for (int64_t i = threadIdx.x; i < op.width; i += YK_WARP_TEAM_BLOCK_THREADS) {
            const float n = (yk_typed_load_one(op.x_type, op.x, x_start + i) - mean) * rstd;
            const float g = yk_typed_load_one(op.y_type, op.dy, dy_start + i) *
                            (yk_typed_load_one(op.weight_type, op.weight, i) + op.weight_offset);
            const float add = op.add ? yk_typed_load_one(op.x_type, op.add, dx_start + i) : 0.0F;
            const float dx[1] = {add + rstd * (g - g_mean - n * gn_mean)};
            yk_typed_store(op.x_type, op.dx, dx_start + i, dx);
        }
    }
}

static void backward_slow(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op)
{
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t groups = op->rows * op->groups;
    if (op->d_weight || op->d_bias) {
        const int64_t bytes = op->width * 2 * static_cast<int64_t>(sizeof(float));
        const int64_t scratch = PARTIAL_BYTES / bytes > 0 ? PARTIAL_BYTES / bytes : 1;
        const int64_t max_parts =
            yk_number_min(yk_number_ceil_div(groups, COLUMN_STEPS), PARTIAL_GROUPS);
        const int64_t part_groups = yk_number_ceil_div(groups, yk_number_min(max_parts, scratch));
        const int64_t parts = yk_number_ceil_div(groups, part_groups);
        float *partials = static_cast<float *>(
            yk_cuda_lane_get_scratch(lane, static_cast<size_t>(parts * bytes)));
        if (!partials) {
            return;
        }
        const auto kernel = op->groups > 1 ? walk_columns<true> : walk_columns<false>;
        const dim3 grid(yk_block_count(op->width, COLUMN_LANES), static_cast<unsigned>(parts));
        kernel<<<grid, COLUMN_LANES * COLUMN_STEPS, 0, stream>>>(*op, part_groups, partials);
        add_column_sums(lane, op, partials, parts);
    }
    const int64_t grid =
        yk_number_min(groups, yk_cuda_lane_device_properties(lane)->processors * SLOW_BLOCKS);
    const auto kernel = op->groups > 1 ? walk_rows<true> : walk_rows<false>;
    kernel<<<static_cast<unsigned>(grid), YK_WARP_TEAM_BLOCK_THREADS, 0, stream>>>(*op);
}

static struct yk_norm_backward_op fill_in_defaults(const struct yk_norm_backward_op *op)
{
    struct yk_norm_backward_op whole = *op;
    whole.groups = op->groups > 0 ? op->groups : 1;
    whole.x_stride = op->x_stride > 0 ? op->x_stride : whole.groups * op->width;
    whole.dy_stride = op->dy_stride > 0 ? op->dy_stride : whole.groups * op->width;
    whole.dx_stride = op->dx_stride > 0 ? op->dx_stride : whole.groups * op->width;
    return whole;
}

void yk_cuda_norm_backward(struct yk_backend_lane *lane, const struct yk_norm_backward_op *given)
{
    const struct yk_norm_backward_op whole = fill_in_defaults(given);
    const struct yk_norm_backward_op *op = &whole;
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    if (!yk_cuda_grouped_norm_try_backward(lane, op) && !run_registers(lane, op)) {
        backward_slow(lane, op);
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "norm_backward");
}
