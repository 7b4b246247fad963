#include "backend/cuda/kernels.h"

#include "backend/cuda/held_rows.cuh"

/*
 * A row's numbers are held in registers as they are stored, so that memory is read once: its mean,
 * the mean of its squared distances from it, and y come from there. Rows that do not fit or cannot
 * be taken 16 bytes at a time, and x and y of different types, go the slow way, number by number.
 */
enum {
    HELD_BLOCKS = 4, /* of an SM */
    SLOW_BLOCKS = 8,
    SHARED_BYTES = 48 << 10, /* what every chip gives without being asked */
};

/* What a thread of a team holds of a row: chunks place, place + step … below count. */
template <typename T> struct held {
    yk_wide<T> chunks[YK_TEAM_HELD];
};

template <typename T>
static __device__ __forceinline__ void hold(const T *x, int place, int step, int count,
                                            struct held<T> &out)
{
#pragma unroll
    for (int i = 0; i < YK_TEAM_HELD; i++) {
        const int chunk = place + i * step;
        if (chunk < count) {
            out.chunks[i] = yk_load_wide(x + chunk * yk_wide<T>::count);
        }
    }
}

template <typename T>
static __device__ __forceinline__ float held_sum(const struct held<T> &held, int place, int step,
                                                 int count)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < YK_TEAM_HELD; i++) {
        if (place + i * step < count) {
#pragma unroll
            for (int j = 0; j < yk_wide<T>::count; j++) {
                sum += yk_load(held.chunks[i].numbers[j]);
            }
        }
    }
    return sum;
}

/* Of the squared distances from the mean. */
template <typename T>
static __device__ __forceinline__ float held_spread(const struct held<T> &held, int place, int step,
                                                    int count, float mean)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < YK_TEAM_HELD; i++) {
        if (place + i * step < count) {
#pragma unroll
            for (int j = 0; j < yk_wide<T>::count; j++) {
                const float distance = yk_load(held.chunks[i].numbers[j]) - mean;
                sum += distance * distance;
            }
        }
    }
    return sum;
}

/* y of a chunk, whose weights and biases lie at `weights` and `biases`, `chunks` apart. */
template <typename T>
static __device__ __forceinline__ yk_wide<T> scale_chunk(const yk_wide<T> &x, float mean,
                                                         float rstd, const float4 *weights,
                                                         const float4 *biases, int chunks)
{
    yk_wide<T> y;
#pragma unroll
    for (int quarter = 0; quarter < yk_wide<T>::count / 4; quarter++) {
        float from[4];
        float weight[4];
        float bias[4] = {0, 0, 0, 0};
        yk_four(x, quarter, from);
        yk_four(weights[quarter * chunks], weight);
        if (biases) {
            yk_four(biases[quarter * chunks], bias);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            y.numbers[4 * quarter + i] = yk_store<T>((from[i] - mean) * rstd * weight[i] + bias[i]);
        }
    }
    return y;
}

/* x and y are of type T. The block's teams go from row to row together. */
template <typename T>
static __global__ void __launch_bounds__(YK_TEAM_THREADS, HELD_BLOCKS)
    hold_rows(struct yk_normalise op, int team_warps)
{
    constexpr int N = yk_wide<T>::count;
    extern __shared__ float4 shared[]; /* weights and, where there are, biases, width of each */
    __shared__ float room[2][YK_TEAM_WARPS][1];
    const int width = static_cast<int>(op.width);
    const int chunks = width / N;
    const float4 *biases = op.bias ? shared + width / 4 : nullptr;
    const int team_threads = team_warps * 32;
    const int teams = YK_TEAM_THREADS / team_threads;
    const int team = threadIdx.x / team_threads;
    const int place = threadIdx.x % team_threads;
    const int64_t step = static_cast<int64_t>(gridDim.x) * teams;
    yk_stage<N>(op.weight_type, op.weight, width, shared);
    if (op.bias) {
        yk_stage<N>(op.weight_type, op.bias, width, shared + width / 4);
    }
    __syncthreads();
    int turn = 0;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * teams; first < op.rows; first += step) {
        const int64_t row = first + team;
        const int count = row < op.rows ? chunks : 0;
        struct held<T> held;
        hold(static_cast<const T *>(op.x) + row * width, place, team_threads, count, held);
        float mean = 0;
        if (op.bias) {
            float sum[1] = {held_sum(held, place, team_threads, count)};
            yk_team_sums(sum, team_warps, room[turn++ & 1]);
            mean = sum[0] / static_cast<float>(width);
        }
        float spread[1] = {held_spread(held, place, team_threads, count, mean)};
        yk_team_sums(spread, team_warps, room[turn++ & 1]);
        const float rstd = 1.0F / sqrtf(spread[0] / static_cast<float>(width) + op.epsilon);
        if (place == 0 && count > 0) {
            op.rstd[row] = rstd;
            if (op.bias) {
                op.mean[row] = mean;
            }
        }
        T *y = static_cast<T *>(op.y) + row * width;
#pragma unroll
        for (int i = 0; i < YK_TEAM_HELD; i++) {
            const int chunk = place + i * team_threads;
            if (chunk < count) {
                yk_store_wide(y + chunk * N,
                              scale_chunk(held.chunks[i], mean, rstd, shared + chunk,
                                          biases ? biases + chunk : nullptr, chunks));
            }
        }
    }
}

/* Any types, widths and addresses; a block a row, whose threads are one team. */
static __global__ void __launch_bounds__(YK_TEAM_THREADS) walk_rows(struct yk_normalise op)
{
    __shared__ float room[2][YK_TEAM_WARPS][1];
    int turn = 0;
    for (int64_t row = blockIdx.x; row < op.rows; row += gridDim.x) {
        const int64_t start = row * op.width;
        float mean = 0;
        if (op.bias) {
            float sum[1] = {0};
            for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
                sum[0] += yk_typed_one(op.x_type, op.x, start + i);
            }
            yk_team_sums(sum, YK_TEAM_WARPS, room[turn++ & 1]);
            mean = sum[0] / static_cast<float>(op.width);
        }
        float spread[1] = {0};
        for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
            const float distance = yk_typed_one(op.x_type, op.x, start + i) - mean;
            spread[0] += distance * distance;
        }
        yk_team_sums(spread, YK_TEAM_WARPS, room[turn++ & 1]);
        const float rstd = 1.0F / sqrtf(spread[0] / static_cast<float>(op.width) + op.epsilon);
        if (threadIdx.x == 0) {
            op.rstd[row] = rstd;
            if (op.bias) {
                op.mean[row] = mean;
            }
        }
        for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
            const float x = yk_typed_one(op.x_type, op.x, start + i);
            const float weight = yk_typed_one(op.weight_type, op.weight, i);
            const float bias = op.bias ? yk_typed_one(op.weight_type, op.bias, i) : 0.0F;
            const float y[1] = {(x - mean) * rstd * weight + bias};
            yk_typed_put(op.y_type, op.y, start + i, y);
        }
    }
}

void yk_cuda_normalise(struct yk_backend_lane *lane, const struct yk_normalise *op)
{
    if (!yk_cuda_sound(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    const cudaStream_t stream = yk_cuda_stream(lane);
    const int64_t processors = yk_cuda_chip(lane)->processors;
    const int64_t shared_bytes =
        op->width * (op->bias ? 2 : 1) * static_cast<int64_t>(sizeof(float));
    bool held = false;
    if (op->x_type == op->y_type && shared_bytes <= SHARED_BYTES) {
        yk_with_type(op->x_type, [&](auto number) {
            using T = decltype(number);
            const int64_t chunks = op->width / yk_wide<T>::count;
            if (!yk_is_wide<T>(op->x, op->width) || !yk_is_wide<T>(op->y, op->width) ||
                chunks > YK_TEAM_CHUNKS) {
                return;
            }
            const int team_warps = yk_team_warps(chunks, YK_TEAM_HELD);
            const int64_t blocks = yk_ceil_div(op->rows, YK_TEAM_WARPS / team_warps);
            const int64_t grid =
                blocks < processors * HELD_BLOCKS ? blocks : processors * HELD_BLOCKS;
            hold_rows<T><<<static_cast<unsigned>(grid), YK_TEAM_THREADS,
                           static_cast<size_t>(shared_bytes), stream>>>(*op, team_warps);
            held = true;
        });
    }
    if (!held) {
        const int64_t grid =
            op->rows < processors * SLOW_BLOCKS ? op->rows : processors * SLOW_BLOCKS;
        walk_rows<<<static_cast<unsigned>(grid), YK_TEAM_THREADS, 0, stream>>>(*op);
    }
    yk_cuda_note(lane, cudaGetLastError(), "normalise");
}
