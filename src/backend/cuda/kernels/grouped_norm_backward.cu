#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/grouped_norm.cuh"
#include "backend/cuda/kernels/partial_sums.cuh"

enum {
    WARPS = YK_GROUPED_NORM_THREADS / 32,
    BLOCKS = 2, /* of an SM */
};

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
               const struct yk_held_group<T, SHAPE> &x, const struct yk_held_group<T, SHAPE> &add,
               struct yk_held_group<T, SHAPE> &dy, struct column_sums<T, SHAPE> &sums)
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
        op.mean ? yk_grouped_norm_slot_sum<SHAPE::lanes>(g_sum) / static_cast<float>(op.width)
                : 0.0F;
    const float gn_mean =
        yk_grouped_norm_slot_sum<SHAPE::lanes>(gn_sum) / static_cast<float>(op.width);
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
store_block_sums(const float (&sums)[SHAPE::chunks][yk_vector_16_bytes<T>::count], int width,
                 float (*shared)[SHAPE::lanes * SHAPE::chunks * yk_vector_16_bytes<T>::count],
                 float *to)
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
    for (int column = static_cast<int>(threadIdx.x); column < width;
         column += YK_GROUPED_NORM_THREADS) {
        float total = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; warp++) {
            total += shared[warp][column];
        }
        to[column] = total;
    }
}

/* x, dy and dx are of type T. dx may be dy or add: a lane reads what it needs of a place before it
 * writes there. With ROTARY, dy is rotated back and rounded first, as if by an op of its own. The
 * sums of block b are stored at partials[b] (2, width). `partials` is NULL if weight and bias are
 * frozen: sums cost less than the memory that is read meanwhile. */
template <typename T, typename SHAPE, bool BIAS, bool ROTARY>
static __global__ void __launch_bounds__(YK_GROUPED_NORM_THREADS, SHAPE::chunks < 4 ? BLOCKS : 1)
    norm_backward_groups(
        const YK_GRID_CONSTANT struct yk_norm_pair<struct yk_norm_backward_op> pair,
        float *partials)
{
    constexpr int N = yk_vector_16_bytes<T>::count;
    const struct yk_norm_backward_op *op = nullptr;
    struct yk_slot_walk walk = yk_slot_walk_begin<SHAPE>(pair, &op);
    const int width = static_cast<int>(op->width);
    const int groups = static_cast<int>(op->groups);
    float weights[SHAPE::chunks][N];
    auto sums = column_sums<T, SHAPE>(); /* all 0 */
    bool first_run = true;
    /* All lanes of a warp stay until its first slot is beyond the end: they share sums. */
    while (__any_sync(0xffffffffU, walk.at.row < op->rows)) {
        const int64_t row = walk.at.row;
        const int first = walk.at.in_row * SHAPE::run_groups;
        const int left = row < op->rows ? groups - first : 0;
        struct yk_held_group<T, SHAPE> x[SHAPE::run_groups];
        struct yk_held_group<T, SHAPE> dy[SHAPE::run_groups];
        struct yk_held_angles<T, SHAPE> angles;
        float mean[SHAPE::run_groups];
        float rstd[SHAPE::run_groups];
        yk_grouped_norm_for_each<SHAPE::run_groups>([&](int i) {
            const int64_t number = row * groups + first + i;
            const int in_row = (first + i) * width;
            x[i].load(op->x, row * op->x_stride + in_row, i < left ? width : 0);
            dy[i].load(op->dy, row * op->dy_stride + in_row, i < left ? width : 0);
            mean[i] = i < left && op->mean ? op->mean[number] : 0.0F;
            rstd[i] = i < left ? op->rstd[number] : 0.0F;
        });
        if (first_run) { /* after loads that take as long */
            yk_grouped_norm_load_weights<SHAPE>(op->weight_type, op->weight, op->weight_offset,
                                                width, weights);
            first_run = false;
        }
        if constexpr (ROTARY) {
            angles.load(pair.cos_sin, static_cast<uint32_t>(left > 0 ? row : 0) % pair.sequence,
                        -1.0F);
        }
        yk_grouped_norm_for_each<SHAPE::run_groups>([&](int i) {
            const int64_t start = row * op->dx_stride + (first + i) * width;
            const int count = i < left ? width : 0;
            auto add = yk_held_group<T, SHAPE>(); /* all 0 */
            if (op->add) {
                add.load(op->add, start, count);
            }
            if constexpr (ROTARY) {
                angles.rotate(dy[i]);
            }
            backward_group<T, SHAPE, BIAS>(*op, mean[i], rstd[i], weights, x[i], add, dy[i], sums);
            dy[i].store(op->dx, start, count);
        });
        yk_run_place_advance(walk.at, walk.step, walk.runs);
    }
    if (partials) {
        __shared__ float shared[WARPS][SHAPE::lanes * SHAPE::chunks * N];
        float *to = partials + static_cast<int64_t>(blockIdx.x) * 2 * width;
        store_block_sums<T, SHAPE>(sums.weight, width, shared, to);
        if constexpr (BIAS) {
            store_block_sums<T, SHAPE>(sums.bias, width, shared, to + width);
        }
    }
}

/* Adds the sums of `blocks` blocks to the gradients of the op. */
static void add_block_sums(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op,
                           const float *partials, unsigned blocks)
{
    const struct yk_partial_sums sums = {
        partials,       op->width, static_cast<int32_t>(blocks), 2, {op->d_weight, op->d_bias},
        op->weight_type};
    if (blocks > 0 && (op->d_weight || op->d_bias)) {
        yk_partial_sums_enqueue_final_sum(yk_cuda_lane_stream(lane), &sums);
    }
}

template <typename T, typename SHAPE, bool ROTARY>
static void launch(struct yk_backend_lane *lane,
                   struct yk_norm_pair<struct yk_norm_backward_op> *pair)
{
    const struct yk_norm_backward_op *ops = pair->ops;
    const int64_t blocks =
        yk_cuda_lane_device_properties(lane)->processors * (SHAPE::chunks < 4 ? BLOCKS : 1);
    const unsigned grid = yk_norm_pair_grid<SHAPE>(pair, blocks);
    const size_t block_sums = 2 * static_cast<size_t>(ops[0].width);
    const auto kernel = ops[0].d_bias || ops[1].d_bias
                            ? norm_backward_groups<T, SHAPE, true, ROTARY>
                            : norm_backward_groups<T, SHAPE, false, ROTARY>;
    float *partials = nullptr;
    if (ops[0].d_weight || ops[0].d_bias || ops[1].d_weight || ops[1].d_bias) {
        partials =
            static_cast<float *>(yk_cuda_lane_get_scratch(lane, grid * block_sums * sizeof(float)));
        if (!partials) {
            return;
        }
    }
    kernel<<<grid, YK_GROUPED_NORM_THREADS, 0, yk_cuda_lane_stream(lane)>>>(*pair, partials);
    if (partials) {
        add_block_sums(lane, &ops[0], partials, pair->first_blocks);
        add_block_sums(lane, &ops[1], partials + pair->first_blocks * block_sums,
                       grid - pair->first_blocks);
    }
}

template <typename T> static bool is_supported(const struct yk_norm_backward_op *op)
{
    return op->width % yk_vector_16_bytes<T>::count == 0 &&
           yk_are_rows_16_byte_aligned<T>(op->x, op->x_stride) &&
           yk_are_rows_16_byte_aligned<T>(op->dy, op->dy_stride) &&
           yk_are_rows_16_byte_aligned<T>(op->dx, op->dx_stride) &&
           yk_are_rows_16_byte_aligned<T>(op->add, op->dx_stride);
}

template <typename T>
static bool try_pair(struct yk_backend_lane *lane,
                     struct yk_norm_pair<struct yk_norm_backward_op> *pair)
{
    return yk_norm_pair_dispatch<T>(pair, [&](auto shape, auto rotary) {
        launch<T, decltype(shape), decltype(rotary)::value>(lane, pair);
    });
}

bool yk_cuda_grouped_norm_try_backward(struct yk_backend_lane *lane,
                                       const struct yk_norm_backward_op *op)
{
    if (op->groups <= 1) {
        return false;
    }
    return yk_norm_pair_try_one(op, [&](auto number, auto *pair) {
        using T = decltype(number);
        return is_supported<T>(op) && try_pair<T>(lane, pair);
    });
}

/* ---- QK-norm ---- */

/* Whether one launch can do it. Ops with defaults are left to others. */
template <typename T> static bool is_one_launch(const struct yk_qk_norm_backward_op *op)
{
    const struct yk_norm_backward_op *q = &op->q;
    const struct yk_norm_backward_op *k = &op->k;
    return q->rows == k->rows && q->width == k->width && q->groups > 0 && k->groups > 0 &&
           q->x_stride > 0 && q->dy_stride > 0 && q->dx_stride > 0 && k->x_stride > 0 &&
           k->dy_stride == q->dy_stride && k->dx_stride > 0 && !q->mean == !k->mean &&
           is_supported<T>(q) && is_supported<T>(k) &&
           (!op->rotary.cos_sin ||
            (op->rotary.inverse && !q->add && !k->add && q->dx == q->dy && k->dx == k->dy &&
             q->dx_stride == q->dy_stride && k->dx_stride == k->dy_stride &&
             yk_grouped_norm_is_rotation_of<T>(&op->rotary, q->rows, q->width, q->dy, q->groups,
                                               k->dy, k->groups, q->dy_stride)));
}

bool yk_cuda_grouped_norm_try_qk_backward(struct yk_backend_lane *lane,
                                          const struct yk_qk_norm_backward_op *op)
{
    return yk_norm_pair_try(&op->q, &op->k, &op->rotary, [&](auto number, auto *pair) {
        using T = decltype(number);
        return is_one_launch<T>(op) && try_pair<T>(lane, pair);
    });
}
