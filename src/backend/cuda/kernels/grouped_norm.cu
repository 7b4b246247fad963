/*
 * Norms of rows with several short groups, such as the heads of queries: many groups of 64 to 1024
 * elements with the same weights. See norm.cu and norm_backward.cu for the formulas.
 *
 * A slot of 8, 16 or 32 lanes of a warp has one group at a time, and a lane 1, 2 or 4 chunks of 16
 * bytes of it. A lane keeps its weights in registers and loads several groups before it uses the
 * first, so that much memory is under way. Slots step over all groups of the op by the number of
 * slots of the grid; the step is kept as rows and groups, so that no division is needed in the
 * loop.
 */
#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/partial_sums.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    FORWARD_BLOCKS = 4,  /* of an SM */
    BACKWARD_BLOCKS = 2, /* of an SM */
    HELD_CHUNKS = 4,     /* chunks of x that a lane loads before it uses the first */
};

/* How a group is divided among lanes: a lane holds chunks lane, lane + LANES … of it. */
template <int LANES, int CHUNKS> struct slot_shape {
    static constexpr int lanes = LANES;
    static constexpr int chunks = CHUNKS;
    static constexpr int at_once = HELD_CHUNKS / CHUNKS; /* groups */
    static constexpr int block_slots = THREADS / LANES;
};

/* A group of the op. The groups of a row have fewer than 2^31 elements. */
struct group_place {
    int64_t row;
    int in_row;
};

/* `number` counts the groups of all rows. */
YK_DEVICE_INLINE struct group_place place_of(int64_t number, int groups)
{
    return {number / groups, static_cast<int>(number % groups)};
}

/* `step` is the place of the group that is as far from the first group of the op. */
YK_DEVICE_INLINE void advance(struct group_place &place, const struct group_place &step, int groups)
{
    place.row += step.row;
    place.in_row += step.in_row;
    if (place.in_row >= groups) {
        place.in_row -= groups;
        place.row++;
    }
}

/* Calls f(0), f(1) … f(COUNT − 1). The compiler does not keep arrays in registers that a loop
 * around other loops indexes. */
template <int COUNT, int FIRST = 0, typename F> __device__ __forceinline__ void for_each(const F &f)
{
    if constexpr (FIRST < COUNT) {
        f(FIRST);
        for_each<COUNT, FIRST + 1>(f);
    }
}

/* The sum over the lanes of a slot, known to all of them. */
template <int LANES> YK_DEVICE_INLINE float slot_sum(float x)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(0xffffffffU, x, step);
    }
    return x;
}

/* The weights of a lane's columns, plus `offset`, one by one: they may lie anywhere. */
template <typename SHAPE, int N>
YK_DEVICE_INLINE void load_weights(enum yk_precision type, const void *from, float offset,
                                   int width, float (&out)[SHAPE::chunks][N])
{
    const int lane = static_cast<int>(threadIdx.x) % SHAPE::lanes;
    yk_dispatch_type(type, [&](auto number) {
        const auto *numbers = static_cast<const decltype(number) *>(from);
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            const int first = (lane + i * SHAPE::lanes) * N;
#pragma unroll
            for (int j = 0; j < N; j++) {
                out[i][j] = first < width ? yk_to_float(numbers[first + j]) + offset : 0.0F;
            }
        }
    });
}

/* The chunks of a group that a lane holds. */
template <typename T, typename SHAPE> struct held_group {
    uint4 chunks[SHAPE::chunks];

    /* Chunks that do not exist are 0. */
    __device__ __forceinline__ void load(const void *base, int64_t start, int width)
    {
        constexpr int N = yk_vector_16_bytes<T>::count;
        const T *from = static_cast<const T *>(base) + start;
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            const int first = (static_cast<int>(threadIdx.x) % SHAPE::lanes + i * SHAPE::lanes) * N;
            chunks[i] = make_uint4(0, 0, 0, 0);
            if (first < width) {
                chunks[i] = *reinterpret_cast<const uint4 *>(from + first);
            }
        }
    }

    __device__ __forceinline__ void store(void *base, int64_t start, int width) const
    {
        constexpr int N = yk_vector_16_bytes<T>::count;
        T *to = static_cast<T *>(base) + start;
#pragma unroll
        for (int i = 0; i < SHAPE::chunks; i++) {
            const int first = (static_cast<int>(threadIdx.x) % SHAPE::lanes + i * SHAPE::lanes) * N;
            if (first < width) {
                *reinterpret_cast<uint4 *>(to + first) = chunks[i];
            }
        }
    }
};

/* ---- forward ---- */

/* The sum over a group of what `term` makes of each number; chunks that do not exist have none. */
template <typename T, typename SHAPE, typename TERM>
YK_DEVICE_INLINE float sum_group(const struct held_group<T, SHAPE> &group, int width, TERM term)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const int lane = static_cast<int>(threadIdx.x) % SHAPE::lanes;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < SHAPE::chunks; i++) {
        float x[N];
        yk_unpack_16_bytes_to_floats<T>(group.chunks[i], x);
        if ((lane + i * SHAPE::lanes) * N < width) {
#pragma unroll
            for (int j = 0; j < N; j++) {
                sum += term(x[j]);
            }
        }
    }
    return slot_sum<SHAPE::lanes>(sum);
}

/* Adds the biases of a lane's chunk i. */
template <typename SHAPE, int N>
YK_DEVICE_INLINE void add_biases(const struct yk_norm_op &op, int i, float (&x)[N])
{
    const int first = (static_cast<int>(threadIdx.x) % SHAPE::lanes + i * SHAPE::lanes) * N;
    if (first < op.width) {
        yk_dispatch_type(op.weight_type, [&](auto number) {
            const auto *biases = static_cast<const decltype(number) *>(op.bias) + first;
#pragma unroll
            for (int j = 0; j < N; j++) {
                x[j] += yk_to_float(biases[j]);
            }
        });
    }
}

/* Replaces x of a group with y, and stores the statistics of the group if `real`. All lanes of a
 * warp call it, also for groups that do not exist. */
template <typename T, typename SHAPE>
YK_DEVICE_INLINE void
normalise_group(const struct yk_norm_op &op, int64_t number, bool real,
                const float (&weights)[SHAPE::chunks][yk_vector_16_bytes<T>::count],
                struct held_group<T, SHAPE> &group)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const int width = static_cast<int>(op.width);
    float mean = 0;
    if (op.bias) {
        mean = sum_group(group, width, [](float x) { return x; }) / static_cast<float>(width);
    }
    const float spread =
        sum_group(group, width, [mean](float x) { return (x - mean) * (x - mean); });
    const float rstd = 1.0F / sqrtf(spread / static_cast<float>(width) + op.epsilon);
    if (real && threadIdx.x % SHAPE::lanes == 0) {
        op.rstd[number] = rstd;
        if (op.bias) {
            op.mean[number] = mean;
        }
    }
#pragma unroll
    for (int i = 0; i < SHAPE::chunks; i++) {
        float x[N];
        yk_unpack_16_bytes_to_floats<T>(group.chunks[i], x);
#pragma unroll
        for (int j = 0; j < N; j++) {
            x[j] = (x[j] - mean) * rstd * weights[i][j];
        }
        if (op.bias) { /* rare, so that biases are not kept in registers */
            add_biases<SHAPE>(op, i, x);
        }
        group.chunks[i] = yk_pack_floats_to_16_bytes<T>(x);
    }
}

/* x and y are of type T. */
template <typename T, typename SHAPE>
static __global__ void __launch_bounds__(THREADS, SHAPE::chunks < 4 ? FORWARD_BLOCKS : 2)
    norm_groups(struct yk_norm_op op)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const int width = static_cast<int>(op.width);
    const int groups = static_cast<int>(op.groups);
    const int slot = static_cast<int>(threadIdx.x) / SHAPE::lanes;
    const struct group_place step =
        place_of(static_cast<int64_t>(gridDim.x) * SHAPE::block_slots, groups);
    struct group_place at =
        place_of(static_cast<int64_t>(blockIdx.x) * SHAPE::block_slots + slot, groups);
    float weights[SHAPE::chunks][N];
    load_weights<SHAPE>(op.weight_type, op.weight, op.weight_offset, width, weights);
    /* All lanes of a warp stay until its first slot is beyond the end: they share sums. */
    while (__any_sync(0xffffffffU, at.row < op.rows)) {
        struct group_place ahead = at;
        struct held_group<T, SHAPE> held[SHAPE::at_once];
        for_each<SHAPE::at_once>([&](int i) {
            held[i].load(op.x, ahead.row * op.x_stride + ahead.in_row * width,
                         ahead.row < op.rows ? width : 0);
            advance(ahead, step, groups);
        });
        for_each<SHAPE::at_once>([&](int i) {
            const bool real = at.row < op.rows;
            normalise_group(op, at.row * groups + at.in_row, real, weights, held[i]);
            held[i].store(op.y, at.row * op.y_stride + at.in_row * width, real ? width : 0);
            advance(at, step, groups);
        });
    }
}

/* ---- backward ---- */

/* Sums over the groups a lane has seen, of the columns it holds. */
template <typename T, typename SHAPE> struct column_sums {
    float weight[SHAPE::chunks][yk_vector_16_bytes<T>::count];
    float bias[SHAPE::chunks][yk_vector_16_bytes<T>::count];
};

/* Replaces dy of a group with dx. Adds to the sums of columns, with BIAS also to those of biases.
 * Chunks that do not exist have a dy of 0. */
template <typename T, typename SHAPE, bool BIAS>
YK_DEVICE_INLINE void
backward_group(const struct yk_norm_backward_op &op, float mean, float rstd,
               const float (&weights)[SHAPE::chunks][yk_vector_16_bytes<T>::count],
               const struct held_group<T, SHAPE> &x, const struct held_group<T, SHAPE> &add,
               struct held_group<T, SHAPE> &dy, struct column_sums<T, SHAPE> &sums)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    float g_sum = 0;
    float gn_sum = 0;
#pragma unroll
    for (int i = 0; i < SHAPE::chunks; i++) {
        float n[N];
        float d[N];
        yk_unpack_16_bytes_to_floats<T>(x.chunks[i], n);
        yk_unpack_16_bytes_to_floats<T>(dy.chunks[i], d);
#pragma unroll
        for (int j = 0; j < N; j++) {
            n[j] = (n[j] - mean) * rstd;
            const float g = d[j] * weights[i][j];
            g_sum += g;
            gn_sum += g * n[j];
            sums.weight[i][j] += d[j] * n[j];
            if (BIAS) {
                sums.bias[i][j] += d[j];
            }
        }
    }
    const float g_mean =
        op.mean ? slot_sum<SHAPE::lanes>(g_sum) / static_cast<float>(op.width) : 0.0F;
    const float gn_mean = slot_sum<SHAPE::lanes>(gn_sum) / static_cast<float>(op.width);
#pragma unroll
    for (int i = 0; i < SHAPE::chunks; i++) {
        float n[N];
        float d[N];
        float a[N];
        yk_unpack_16_bytes_to_floats<T>(x.chunks[i], n);
        yk_unpack_16_bytes_to_floats<T>(dy.chunks[i], d);
        yk_unpack_16_bytes_to_floats<T>(add.chunks[i], a);
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float g = d[j] * weights[i][j];
            d[j] = a[j] + rstd * (g - g_mean - (n[j] - mean) * rstd * gn_mean);
        }
        dy.chunks[i] = yk_pack_floats_to_16_bytes<T>(d);
    }
}

/* Adds up one of the sums of the block's slots, in the order of warps, and leaves it in scratch at
 * `to` (width). */
template <typename T, typename SHAPE>
YK_DEVICE_INLINE void
leave(const float (&sums)[SHAPE::chunks][yk_vector_16_bytes<T>::count], int width,
      float (*shared)[SHAPE::lanes * SHAPE::chunks * yk_vector_16_bytes<T>::count], float *to)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SHAPE::chunks; i++) {
#pragma unroll
        for (int j = 0; j < N; j++) {
            float sum = sums[i][j];
#pragma unroll
            for (int step = SHAPE::lanes; step < 32; step *= 2) {
                sum += __shfl_xor_sync(0xffffffffU, sum, step);
            }
            if (lane < SHAPE::lanes) {
                shared[threadIdx.x / 32][(lane + i * SHAPE::lanes) * N + j] = sum;
            }
        }
    }
    __syncthreads();
    for (int column = static_cast<int>(threadIdx.x); column < width; column += THREADS) {
        float total = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++) {
            total += shared[warp][column];
        }
        to[column] = total;
    }
}

/* x, dy and dx are of type T. dx may be dy or add: a lane reads what it needs of a place before it
 * writes there. The sums of block b are stored at partials[b] (2, width). `partials` is NULL if
 * weight and bias are frozen: sums cost less than the memory that is read meanwhile. */
template <typename T, typename SHAPE, bool BIAS>
static __global__ void __launch_bounds__(THREADS, SHAPE::chunks < 4 ? BACKWARD_BLOCKS : 1)
    norm_backward_groups(struct yk_norm_backward_op op, float *partials)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const int width = static_cast<int>(op.width);
    const int groups = static_cast<int>(op.groups);
    const int slot = static_cast<int>(threadIdx.x) / SHAPE::lanes;
    const struct group_place step =
        place_of(static_cast<int64_t>(gridDim.x) * SHAPE::block_slots, groups);
    struct group_place at =
        place_of(static_cast<int64_t>(blockIdx.x) * SHAPE::block_slots + slot, groups);
    float weights[SHAPE::chunks][N];
    auto sums = column_sums<T, SHAPE>(); /* all 0 */
    load_weights<SHAPE>(op.weight_type, op.weight, op.weight_offset, width, weights);
    /* All lanes of a warp stay until its first slot is beyond the end: they share sums. */
    while (__any_sync(0xffffffffU, at.row < op.rows)) {
        struct group_place ahead = at;
        struct held_group<T, SHAPE> x[SHAPE::at_once];
        struct held_group<T, SHAPE> dy[SHAPE::at_once];
        float mean[SHAPE::at_once];
        float rstd[SHAPE::at_once];
        for_each<SHAPE::at_once>([&](int i) {
            const bool real = ahead.row < op.rows;
            const int64_t number = ahead.row * groups + ahead.in_row;
            const int in_row = ahead.in_row * width;
            x[i].load(op.x, ahead.row * op.x_stride + in_row, real ? width : 0);
            dy[i].load(op.dy, ahead.row * op.dy_stride + in_row, real ? width : 0);
            mean[i] = real && op.mean ? op.mean[number] : 0.0F;
            rstd[i] = real ? op.rstd[number] : 0.0F;
            advance(ahead, step, groups);
        });
        for_each<SHAPE::at_once>([&](int i) {
            const int64_t start = at.row * op.dx_stride + at.in_row * width;
            const int count = at.row < op.rows ? width : 0;
            auto add = held_group<T, SHAPE>(); /* all 0 */
            if (op.add) {
                add.load(op.add, start, count);
            }
            backward_group<T, SHAPE, BIAS>(op, mean[i], rstd[i], weights, x[i], add, dy[i], sums);
            dy[i].store(op.dx, start, count);
            advance(at, step, groups);
        });
    }
    if (partials) {
        __shared__ float shared[WARPS][SHAPE::lanes * SHAPE::chunks * N];
        float *to = partials + static_cast<int64_t>(blockIdx.x) * 2 * width;
        leave<T, SHAPE>(sums.weight, width, shared, to);
        if constexpr (BIAS) {
            leave<T, SHAPE>(sums.bias, width, shared, to + width);
        }
    }
}

/* ---- launch ---- */

/* No more blocks than run at the same time, nor than have work for all of their lanes. */
template <typename SHAPE>
static unsigned grid_of(struct yk_backend_lane *lane, int64_t rows, int64_t groups, int64_t blocks)
{
    const int64_t needed = yk_number_ceil_div(rows * groups, SHAPE::block_slots * SHAPE::at_once);
    return static_cast<unsigned>(
        yk_number_min(needed, yk_cuda_lane_device_properties(lane)->processors * blocks));
}

/* Calls f with the shape for groups of `chunks` chunks. Returns false if there is none. */
template <typename F> static bool dispatch_shape(int64_t chunks, F f)
{
    if (chunks <= 8) {
        f(slot_shape<8, 1>());
    } else if (chunks <= 16) {
        f(slot_shape<16, 1>());
    } else if (chunks <= 32) {
        f(slot_shape<16, 2>());
    } else if (chunks <= 64) {
        f(slot_shape<32, 2>());
    } else if (chunks <= 128) {
        f(slot_shape<32, 4>());
    } else {
        return false;
    }
    return true;
}

template <typename T, typename SHAPE>
static void forward(struct yk_backend_lane *lane, const struct yk_norm_op *op)
{
    const unsigned grid =
        grid_of<SHAPE>(lane, op->rows, op->groups, SHAPE::chunks < 4 ? FORWARD_BLOCKS : 2);
    norm_groups<T, SHAPE><<<grid, THREADS, 0, yk_cuda_lane_stream(lane)>>>(*op);
}

template <typename T, typename SHAPE>
static void backward(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op)
{
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    const unsigned grid =
        grid_of<SHAPE>(lane, op->rows, op->groups, SHAPE::chunks < 4 ? BACKWARD_BLOCKS : 1);
    const auto kernel =
        op->d_bias ? norm_backward_groups<T, SHAPE, true> : norm_backward_groups<T, SHAPE, false>;
    float *partials = nullptr;
    if (op->d_weight || op->d_bias) {
        const size_t bytes = grid * 2 * static_cast<size_t>(op->width) * sizeof(float);
        partials = static_cast<float *>(yk_cuda_lane_get_scratch(lane, bytes));
        if (!partials) {
            return;
        }
    }
    kernel<<<grid, THREADS, 0, stream>>>(*op, partials);
    if (partials) {
        const struct yk_partial_sums sums = {
            partials,       op->width, static_cast<int32_t>(grid), 2, {op->d_weight, op->d_bias},
            op->weight_type};
        yk_partial_sums_enqueue_final_sum(stream, &sums);
    }
}

bool yk_cuda_grouped_norm_try_forward(struct yk_backend_lane *lane, const struct yk_norm_op *op)
{
    bool done = false;
    if (op->groups > 1 && op->x_type == op->y_type && !op->add) {
        yk_dispatch_type(op->x_type, [&](auto number) {
            using T = decltype(number);
            constexpr int n = yk_vector_16_bytes<T>::count;
            done = op->width % n == 0 && yk_are_rows_16_byte_aligned<T>(op->x, op->x_stride) &&
                   yk_are_rows_16_byte_aligned<T>(op->y, op->y_stride) &&
                   dispatch_shape(op->width / n,
                                  [&](auto shape) { forward<T, decltype(shape)>(lane, op); });
        });
    }
    return done;
}

bool yk_cuda_grouped_norm_try_backward(struct yk_backend_lane *lane,
                                       const struct yk_norm_backward_op *op)
{
    bool done = false;
    if (op->groups > 1 && op->x_type == op->y_type) {
        yk_dispatch_type(op->x_type, [&](auto number) {
            using T = decltype(number);
            constexpr int n = yk_vector_16_bytes<T>::count;
            done = op->width % n == 0 && yk_are_rows_16_byte_aligned<T>(op->x, op->x_stride) &&
                   yk_are_rows_16_byte_aligned<T>(op->dy, op->dy_stride) &&
                   yk_are_rows_16_byte_aligned<T>(op->dx, op->dx_stride) &&
                   yk_are_rows_16_byte_aligned<T>(op->add, op->dx_stride) &&
                   dispatch_shape(op->width / n,
                                  [&](auto shape) { backward<T, decltype(shape)>(lane, op); });
        });
    }
    return done;
}
