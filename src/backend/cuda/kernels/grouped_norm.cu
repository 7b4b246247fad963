#include "backend/cuda/kernels/grouped_norm.cuh"

/* Of an SM. */
template <typename SHAPE, bool ROTARY>
static constexpr int block_count = SHAPE::chunks == 4 ? 2
                                   : ROTARY           ? 3
                                                      : 4;

/* The sum over a group of what `term` makes of each number; chunks that do not exist have none. */
template <typename T, typename SHAPE, typename TERM>
YK_DEVICE_INLINE float sum_group(const struct yk_held_group<T, SHAPE> &group, int width, TERM term)
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
    return yk_grouped_norm_slot_sum<SHAPE::lanes>(sum);
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
                struct yk_held_group<T, SHAPE> &group)
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

/* x and y are of type T. With ROTARY, y is rotated after it was rounded, as if by an op of its own.
 */
template <typename T, typename SHAPE, bool ROTARY>
static __global__ void __launch_bounds__(YK_GROUPED_NORM_THREADS, (block_count<SHAPE, ROTARY>))
    norm_groups(const YK_GRID_CONSTANT struct yk_norm_pair<struct yk_norm_op> pair)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const struct yk_norm_op *op = nullptr;
    struct yk_slot_walk walk = yk_slot_walk_begin<SHAPE>(pair, &op);
    const int width = static_cast<int>(op->width);
    const int groups = static_cast<int>(op->groups);
    float weights[SHAPE::chunks][N];
    bool first_run = true;
    /* All lanes of a warp stay until its first slot is beyond the end: they share sums. */
    while (__any_sync(0xffffffffU, walk.at.row < op->rows)) {
        const int64_t row = walk.at.row;
        const int first = walk.at.in_row * SHAPE::run_groups;
        const int left = row < op->rows ? groups - first : 0;
        struct yk_held_group<T, SHAPE> held[SHAPE::run_groups];
        struct yk_held_angles<T, SHAPE> angles;
        yk_grouped_norm_for_each<SHAPE::run_groups>([&](int i) {
            held[i].load(op->x, row * op->x_stride + (first + i) * width, i < left ? width : 0);
        });
        if (first_run) { /* after loads that take as long */
            yk_grouped_norm_load_weights<SHAPE>(op->weight_type, op->weight, op->weight_offset,
                                                width, weights);
            first_run = false;
        }
        if constexpr (ROTARY) {
            angles.load(pair.cos_sin, static_cast<uint32_t>(left > 0 ? row : 0) % pair.sequence,
                        1.0F);
        }
        yk_grouped_norm_for_each<SHAPE::run_groups>([&](int i) {
            normalise_group(*op, row * groups + first + i, i < left, weights, held[i]);
            if constexpr (ROTARY) {
                angles.rotate(held[i]);
            }
            held[i].store(op->y, row * op->y_stride + (first + i) * width, i < left ? width : 0);
        });
        yk_run_place_advance(walk.at, walk.step, walk.runs);
    }
}

template <typename T, typename SHAPE, bool ROTARY>
static void launch(struct yk_backend_lane *lane, struct yk_norm_pair<struct yk_norm_op> *pair)
{
    const int64_t blocks =
        yk_cuda_lane_device_properties(lane)->processors * block_count<SHAPE, ROTARY>;
    const unsigned grid = yk_norm_pair_grid<SHAPE>(pair, blocks);
    norm_groups<T, SHAPE, ROTARY>
        <<<grid, YK_GROUPED_NORM_THREADS, 0, yk_cuda_lane_stream(lane)>>>(*pair);
}

template <typename T> static bool is_supported(const struct yk_norm_op *op)
{
    return op->width % yk_vector_16_bytes<T>::count == 0 &&
           yk_are_rows_16_byte_aligned<T>(op->x, op->x_stride) &&
           yk_are_rows_16_byte_aligned<T>(op->y, op->y_stride);
}

template <typename T>
static bool try_pair(struct yk_backend_lane *lane, struct yk_norm_pair<struct yk_norm_op> *pair)
{
    return yk_norm_pair_dispatch<T>(pair, [&](auto shape, auto rotary) {
        launch<T, decltype(shape), decltype(rotary)::value>(lane, pair);
    });
}

bool yk_cuda_grouped_norm_try_forward(struct yk_backend_lane *lane, const struct yk_norm_op *op)
{
    if (op->groups <= 1 || op->add) {
        return false;
    }
    return yk_norm_pair_try_one(op, [&](auto number, auto *pair) {
        using T = decltype(number);
        return is_supported<T>(op) && try_pair<T>(lane, pair);
    });
}

/* ---- QK-norm ---- */

/* Whether one launch can do it. Ops with defaults are left to others. */
template <typename T> static bool is_one_launch(const struct yk_qk_norm_op *op)
{
    const struct yk_norm_op *q = &op->q;
    const struct yk_norm_op *k = &op->k;
    return q->rows == k->rows && q->width == k->width && q->groups > 0 && k->groups > 0 &&
           q->x_stride > 0 && q->y_stride > 0 && k->x_stride > 0 && k->y_stride == q->y_stride &&
           !q->bias == !k->bias && !q->add && !k->add && is_supported<T>(q) && is_supported<T>(k) &&
           (!op->rotary.cos_sin ||
            (!op->rotary.inverse &&
             yk_grouped_norm_is_rotation_of<T>(&op->rotary, q->rows, q->width, q->y, q->groups,
                                               k->y, k->groups, q->y_stride)));
}

bool yk_cuda_grouped_norm_try_qk_forward(struct yk_backend_lane *lane,
                                         const struct yk_qk_norm_op *op)
{
    return yk_norm_pair_try(&op->q, &op->k, &op->rotary, [&](auto number, auto *pair) {
        using T = decltype(number);
        return is_one_launch<T>(op) && try_pair<T>(lane, pair);
    });
}
