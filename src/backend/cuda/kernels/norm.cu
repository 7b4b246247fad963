#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/async_copy.cuh"
#include "backend/cuda/kernels/row_registers.cuh"

/* A row is held in registers as it is stored, so that memory is read once: mean, variance and y
 * come from there. The next row is copied to shared memory meanwhile. Rows that do not fit or are
 * not 16-byte aligned, and x and y of different types, go the slow way, number by number. Rows of
 * several short groups have kernels of their own, in grouped_norm.cu. */
enum {
    REGISTER_BLOCKS = 4, /* of an SM */
    SLOW_BLOCKS = 8,
    WEIGHT_BYTES = 48 << 10, /* of shared memory for weights and biases, at most */
    STAGE_CHUNKS = YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD * YK_WARP_TEAM_BLOCK_THREADS,
    STAGE_BYTES = STAGE_CHUNKS * 16,
    RESERVED_BYTES = 2048, /* shared memory of a block for its sums, and what the system keeps */
};

/* What a thread of a team holds of a row: chunks place, place + step … below count. */
template <typename T> struct row_registers {
    yk_vector_16_bytes<T> chunks[YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD];
};

/* Asks for what a thread holds of a row; it lies in shared memory at stage[0], stage[threads] …. */
template <typename T>
YK_DEVICE_INLINE void fetch(const T *x, int place, int step, int count, uint4 *stage)
{
#pragma unroll
    for (int i = 0; i < YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD; i++) {
        const int chunk = place + i * step;
        if (chunk < count) {
            yk_async_copy_16_bytes(
                stage + i * YK_WARP_TEAM_BLOCK_THREADS,
                reinterpret_cast<const uint4 *>(x + chunk * yk_vector_16_bytes<T>::count));
        }
    }
    yk_async_copy_commit_group();
}

template <typename T>
YK_DEVICE_INLINE void load_registers(const uint4 *stage, int place, int step, int count,
                                     struct row_registers<T> &out)
{
#pragma unroll
    for (int i = 0; i < YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD; i++) {
        if (place + i * step < count) {
            out.chunks[i] = *reinterpret_cast<const yk_vector_16_bytes<T> *>(
                stage + i * YK_WARP_TEAM_BLOCK_THREADS);
        }
    }
}

/* Of what `term` makes of each number. */
template <typename T, typename TERM>
YK_DEVICE_INLINE float sum_registers(const struct row_registers<T> &row_registers, int place,
                                     int step, int count, TERM term)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD; i++) {
        if (place + i * step < count) {
#pragma unroll
            for (int j = 0; j < yk_vector_16_bytes<T>::count; j++) {
                sum += term(yk_to_float(row_registers.chunks[i].numbers[j]));
            }
        }
    }
    return sum;
}

/* y of a chunk, whose weights and biases lie at `weights` and `biases`, `chunks` apart. With ADD,
 * what `add` points to is added. With RMS, there is no mean and no bias. */
template <bool ADD, bool RMS, typename T>
YK_DEVICE_INLINE yk_vector_16_bytes<T>
scale_chunk(const yk_vector_16_bytes<T> &x, float mean, float rstd, const float4 *weights,
            const float4 *biases, int chunks, const yk_vector_16_bytes<T> *add)
{
    yk_vector_16_bytes<T> y;
    yk_vector_16_bytes<T> added;
    if (ADD) {
        added = *add;
    }
#pragma unroll
    for (int quarter = 0; quarter < yk_vector_16_bytes<T>::count / 4; quarter++) {
        float from[4];
        float weight[4];
        float bias[4] = {0, 0, 0, 0};
        yk_unpack_quarter(x, quarter, from);
        yk_unpack_quarter(weights[quarter * chunks], weight);
        if (!RMS) {
            yk_unpack_quarter(biases[quarter * chunks], bias);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float number =
                RMS ? from[i] * rstd * weight[i] : (from[i] - mean) * rstd * weight[i] + bias[i];
            if (ADD) {
                number += yk_to_float(added.numbers[4 * quarter + i]);
            }
            y.numbers[4 * quarter + i] = yk_from_float<T>(number);
        }
    }
    return y;
}

/* x and y are of type T, and a row is one group. The block's teams go from row to row together;
 * `prefetch` rows, 0 or 1, are copied before they are needed. Rows of op.add have a stage of their
 * own, and are copied as soon as the one before was used. A stage has `stage_chunks` chunks; only
 * with ADD they are less than STAGE_CHUNKS. y may be add: a thread reads what it needs of a place
 * before it writes there. */
template <typename T, bool ADD, bool RMS>
static __global__ void __launch_bounds__(YK_WARP_TEAM_BLOCK_THREADS, REGISTER_BLOCKS)
    register_rows(struct yk_norm_op op, int team_warps, int prefetch, int add_stage_chunks)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const int stage_chunks = ADD ? add_stage_chunks : STAGE_CHUNKS;
    /* The stages, then weights and, where there are, biases, width of each. */
    extern __shared__ float4 shared[];
    __shared__ float scratch[2][YK_WARP_TEAM_MAX_WARPS][1];
    const int width = static_cast<int>(op.width);
    const int chunks = width / N;
    float4 *weights = shared + ((ADD ? 2 : 1) + prefetch) * stage_chunks;
    float4 *biases = RMS ? nullptr : weights + width / 4;
    uint4 *stages = reinterpret_cast<uint4 *>(shared) + threadIdx.x;
    uint4 *add_stage = stages + (1 + prefetch) * stage_chunks;
    const int team_threads = team_warps * 32;
    const int teams = YK_WARP_TEAM_BLOCK_THREADS / team_threads;
    const int team = threadIdx.x / team_threads;
    const int place = threadIdx.x % team_threads;
    const int64_t step = static_cast<int64_t>(gridDim.x) * teams;
    int64_t first = static_cast<int64_t>(blockIdx.x) * teams;
    if (prefetch > 0) {
        fetch(static_cast<const T *>(op.x) + (first + team) * op.x_stride, place, team_threads,
              first + team < op.rows ? chunks : 0, stages);
    }
    if (ADD) {
        fetch(static_cast<const T *>(op.add) + (first + team) * op.y_stride, place, team_threads,
              first + team < op.rows ? chunks : 0, add_stage);
    }
    yk_copy_weights_to_shared_memory<N>(op.weight_type, op.weight, op.weight_offset, width,
                                        weights);
    if (!RMS) {
        yk_copy_weights_to_shared_memory<N>(op.weight_type, op.bias, 0.0F, width, biases);
    }
    __syncthreads();
    int turn = 0;
    for (int stage = 0; first < op.rows; first += step, stage ^= prefetch) {
        const int64_t row = first + team;
        const int64_t next = row + prefetch * step;
        const int count = row < op.rows ? chunks : 0;
        struct row_registers<T> row_registers;
        fetch(static_cast<const T *>(op.x) + next * op.x_stride, place, team_threads,
              next < op.rows ? chunks : 0, stages + (stage ^ prefetch) * stage_chunks);
        /* Copies of add come between those of x. */
        yk_async_copy_wait_all_but(ADD ? 2 * prefetch : prefetch);
        load_registers(stages + stage * stage_chunks, place, team_threads, count, row_registers);
        float mean = 0;
        if (!RMS) {
            float sum[1] = {sum_registers(row_registers, place, team_threads, count,
                                          [](float x) { return x; })};
            yk_warp_team_reduce_sums(sum, team_warps, scratch[turn++ & 1]);
            mean = sum[0] / static_cast<float>(width);
        }
        const auto squared_distance = [mean](float x) {
            const float distance = RMS ? x : x - mean;
            return distance * distance;
        };
        float spread[1] = {
            sum_registers(row_registers, place, team_threads, count, squared_distance)};
        yk_warp_team_reduce_sums(spread, team_warps, scratch[turn++ & 1]);
        const float rstd = 1.0F / sqrtf(spread[0] / static_cast<float>(width) + op.epsilon);
        if (place == 0 && count > 0) {
            op.rstd[row] = rstd;
            if (!RMS) {
                op.mean[row] = mean;
            }
        }
        if (ADD) {
            yk_async_copy_wait_all_but(prefetch);
        }
        T *y = static_cast<T *>(op.y) + row * op.y_stride;
#pragma unroll
        for (int i = 0; i < YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD; i++) {
            const int chunk = place + i * team_threads;
            if (chunk < count) {
                const auto *add = reinterpret_cast<const yk_vector_16_bytes<T> *>(
                    add_stage + i * YK_WARP_TEAM_BLOCK_THREADS);
                yk_store_16_bytes(
                    y + chunk * N,
                    scale_chunk<ADD, RMS>(row_registers.chunks[i], mean, rstd, weights + chunk,
                                          RMS ? nullptr : biases + chunk, chunks, add));
            }
        }
        if (ADD) {
            fetch(static_cast<const T *>(op.add) + (row + step) * op.y_stride, place, team_threads,
                  row + step < op.rows ? chunks : 0, add_stage);
        }
    }
}

/* Any types, widths, groups and addresses; a block a group, whose threads are one team. Without
 * GROUPED, a row is one group. */
template <bool GROUPED>
static __global__ void __launch_bounds__(YK_WARP_TEAM_BLOCK_THREADS) walk_rows(struct yk_norm_op op)
{
    __shared__ float scratch[2][YK_WARP_TEAM_MAX_WARPS][1];
    int turn = 0;
    for (int64_t group = blockIdx.x; group < op.rows * op.groups; group += gridDim.x) {
        const int64_t row = GROUPED ? group / op.groups : group;
        const int64_t in_row = GROUPED ? group % op.groups * op.width : 0;
        const int64_t start = row * op.x_stride + in_row;
        const int64_t y_start = row * op.y_stride + in_row;
        float mean = 0;
        if (op.bias) {
            float sum[1] = {0};
            for (int64_t i = threadIdx.x; i < op.width; i += YK_WARP_TEAM_BLOCK_THREADS) {
                sum[0] += yk_typed_load_one(op.x_type, op.x, start + i);
            }
            yk_warp_team_reduce_sums(sum, YK_WARP_TEAM_MAX_WARPS, scratch[turn++ & 1]);
            mean = sum[0] / static_cast<float>(op.width);
        }
        float spread[1] = {0};
        for (int64_t i = threadIdx.x; i < op.width; i += YK_WARP_TEAM_BLOCK_THREADS) {
            const float distance = yk_typed_load_one(op.x_type, op.x, start + i) - mean;
            spread[0] += distance * distance;
        }
        yk_warp_team_reduce_sums(spread, YK_WARP_TEAM_MAX_WARPS, scratch[turn++ & 1]);
        const float rstd = 1.0F / sqrtf(spread[0] / static_cast<float>(op.width) + op.epsilon);
        if (threadIdx.x == 0) {
            op.rstd[group] = rstd;
            if (op.bias) {
                op.mean[group] = mean;
            }
        }
        for (int64_t i = threadIdx.x; i < op.width; i += YK_WARP_TEAM_BLOCK_THREADS) {
            const float x = yk_typed_load_one(op.x_type, op.x, start + i);
            const float weight = yk_typed_load_one(op.weight_type, op.weight, i) + op.weight_offset;
            const float bias = op.bias ? yk_typed_load_one(op.weight_type, op.bias, i) : 0.0F;
            float y[1] = {(x - mean) * rstd * weight + bias};
            if (op.add) {
                y[0] += yk_typed_load_one(op.y_type, op.add, y_start + i);
            }
            yk_typed_store(op.y_type, op.y, y_start + i, y);
        }
    }
}

/* Prefetches where there is shared memory for all blocks. False where there is none for even a row.
 */
template <typename T, bool ADD, bool RMS>
static bool launch_registers(struct yk_backend_lane *lane, const struct yk_norm_op *op)
{
    const struct yk_cuda_device_properties *properties = yk_cuda_lane_device_properties(lane);
    const int64_t chunks = op->width / yk_vector_16_bytes<T>::count;
    const int64_t weight_bytes = op->width * (RMS ? 1 : 2) * static_cast<int64_t>(sizeof(float));
    const int64_t scratch = static_cast<int64_t>(properties->shared_bytes);
    const auto kernel = register_rows<T, ADD, RMS>;
    const int team_warps = yk_warp_team_warp_count(chunks, YK_WARP_TEAM_MAX_CHUNKS_PER_THREAD);
    const int64_t stage_bytes =
        ADD ? yk_number_ceil_div(chunks, team_warps * 32) * YK_WARP_TEAM_BLOCK_THREADS * 16
            : STAGE_BYTES;
    const int64_t min_bytes = weight_bytes + (ADD ? 2 : 1) * stage_bytes;
    if (op->groups != 1 || op->width % yk_vector_16_bytes<T>::count != 0 ||
        !yk_are_rows_16_byte_aligned<T>(op->x, op->x_stride) ||
        !yk_are_rows_16_byte_aligned<T>(op->y, op->y_stride) ||
        !yk_are_rows_16_byte_aligned<T>(op->add, op->y_stride) ||
        chunks > YK_WARP_TEAM_MAX_CHUNKS || weight_bytes > WEIGHT_BYTES ||
        min_bytes + RESERVED_BYTES > scratch) {
        return false;
    }
    const int prefetch =
        REGISTER_BLOCKS * (min_bytes + stage_bytes + RESERVED_BYTES) <= scratch ? 1 : 0;
    const int64_t blocks = yk_number_ceil_div(op->rows, YK_WARP_TEAM_MAX_WARPS / team_warps);
    const unsigned grid =
        static_cast<unsigned>(yk_number_min(blocks, properties->processors * REGISTER_BLOCKS));
    const size_t bytes = static_cast<size_t>(min_bytes + prefetch * stage_bytes);
    /* The same every time: other lanes may be at it. */
    const cudaError_t error = yk_allow_dynamic_shared_memory(
        reinterpret_cast<const void *>(kernel),
        yk_number_min(scratch - RESERVED_BYTES, WEIGHT_BYTES + (ADD ? 3 : 2) * STAGE_BYTES));
    if (yk_cuda_lane_check_cuda_error(lane, error, "norm")) {
        kernel<<<grid, YK_WARP_TEAM_BLOCK_THREADS, bytes, yk_cuda_lane_stream(lane)>>>(
            *op, team_warps, prefetch, static_cast<int>(stage_bytes / 16));
    }
    return true;
}

static struct yk_norm_op fill_in_defaults(const struct yk_norm_op *op)
{
    struct yk_norm_op whole = *op;
    whole.groups = op->groups > 0 ? op->groups : 1;
    whole.x_stride = op->x_stride > 0 ? op->x_stride : whole.groups * op->width;
    whole.y_stride = op->y_stride > 0 ? op->y_stride : whole.groups * op->width;
    return whole;
}

template <typename T, bool ADD>
static bool launch_registers_of_kind(struct yk_backend_lane *lane, const struct yk_norm_op *op)
{
    return op->bias ? launch_registers<T, ADD, false>(lane, op)
                    : launch_registers<T, ADD, true>(lane, op);
}

/* False where rows do not fit, and then nothing was done. */
static bool run_registers(struct yk_backend_lane *lane, const struct yk_norm_op *op)
{
    bool row_registers = false;
    if (op->x_type == op->y_type) {
        yk_dispatch_type(op->x_type, [&](auto number) {
            using T = decltype(number);
            row_registers = op->add ? launch_registers_of_kind<T, true>(lane, op)
                                    : launch_registers_of_kind<T, false>(lane, op);
        });
    }
    return row_registers;
}

void yk_cuda_norm(struct yk_backend_lane *lane, const struct yk_norm_op *given)
{
    const struct yk_norm_op whole = fill_in_defaults(given);
    const struct yk_norm_op *op = &whole;
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    if (!yk_cuda_grouped_norm_try_forward(lane, op) && !run_registers(lane, op)) {
        const int64_t grid = yk_number_min(
            op->rows * op->groups, yk_cuda_lane_device_properties(lane)->processors * SLOW_BLOCKS);
        const auto kernel = op->groups > 1 ? walk_rows<true> : walk_rows<false>;
        kernel<<<static_cast<unsigned>(grid), YK_WARP_TEAM_BLOCK_THREADS, 0,
                 yk_cuda_lane_stream(lane)>>>(*op);
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "norm");
}
