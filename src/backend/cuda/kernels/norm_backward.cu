/*
 * Rows that cannot be held go the slow way: the columns first, then the rows, number by number.
 */
#include "backend/cuda/kernels/norm_backward.cuh"

enum {
    SLOW_BLOCKS = 8,          /* of an SM */
    COLUMN_LANES = 32,        /* columns of a block */
    COLUMN_STEPS = 8,         /* its threads that share a column's rows */
    PARTIAL_BYTES = 32 << 20, /* at most */
    PARTIAL_GROUPS = 64,      /* of rows */
};

/* Sums of columns: a block takes 32 of them, and the rows of group blockIdx.y. */
static __global__ void __launch_bounds__(COLUMN_LANES *COLUMN_STEPS)
    walk_columns(struct yk_norm_backward_op op, int64_t group_rows, float *partials)
{
    __shared__ float sums[2][COLUMN_STEPS][COLUMN_LANES];
    const int lane = threadIdx.x % COLUMN_LANES;
    const int turn = threadIdx.x / COLUMN_LANES;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * COLUMN_LANES + lane;
    const int64_t first = blockIdx.y * group_rows;
    const int64_t end = first + group_rows < op.rows ? first + group_rows : op.rows;
    float weight_sum = 0;
    float bias_sum = 0;
    if (column < op.width) {
        for (int64_t row = first + turn; row < end; row += COLUMN_STEPS) {
            const int64_t at = row * op.width + column;
            const float mean = op.mean ? op.mean[row] : 0.0F;
            const float d = yk_typed_load_one(op.y_type, op.dy, at);
            weight_sum += d * ((yk_typed_load_one(op.x_type, op.x, at) - mean) * op.rstd[row]);
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

/* dx: a block a row, whose threads are one team. */
static __global__ void __launch_bounds__(YK_TEAM_THREADS) walk_rows(struct yk_norm_backward_op op)
{
    __shared__ float scratch[2][YK_TEAM_WARPS][YK_NORM_SUMS];
    int turn = 0;
    for (int64_t row = blockIdx.x; row < op.rows; row += gridDim.x) {
        const int64_t start = row * op.width;
        const float mean = op.mean ? op.mean[row] : 0.0F;
        const float rstd = op.rstd[row];
        float sums[YK_NORM_SUMS] = {0, 0};
        for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
            const float n = (yk_typed_load_one(op.x_type, op.x, start + i) - mean) * rstd;
            const float g = yk_typed_load_one(op.y_type, op.dy, start + i) *
                            yk_typed_load_one(op.weight_type, op.weight, i);
            sums[YK_NORM_G] += g;
            sums[YK_NORM_GN] += g * n;
        }
        yk_team_sums(sums, YK_TEAM_WARPS, scratch[turn++ & 1]);
        const float g_mean = op.mean ? sums[YK_NORM_G] / static_cast<float>(op.width) : 0.0F;
        const float gn_mean = sums[YK_NORM_GN] / static_cast<float>(op.width);
        for (int64_t i = threadIdx.x; i < op.width; i += YK_TEAM_THREADS) {
            const float n = (yk_typed_load_one(op.x_type, op.x, start + i) - mean) * rstd;
            const float g = yk_typed_load_one(op.y_type, op.dy, start + i) *
                            yk_typed_load_one(op.weight_type, op.weight, i);
            const float add = op.add ? yk_typed_load_one(op.x_type, op.add, start + i) : 0.0F;
            const float dx[1] = {add + rstd * (g - g_mean - n * gn_mean)};
            yk_typed_store(op.x_type, op.dx, start + i, dx);
        }
    }
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void backward_slow(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op)
{
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    if (op->d_weight || op->d_bias) {
        const int64_t bytes = op->width * 2 * static_cast<int64_t>(sizeof(float));
        const int64_t scratch = PARTIAL_BYTES / bytes > 0 ? PARTIAL_BYTES / bytes : 1;
        const int64_t max_blocks = min64(yk_ceil_div(op->rows, COLUMN_STEPS), PARTIAL_GROUPS);
        const int64_t group_rows = yk_ceil_div(op->rows, min64(max_blocks, scratch));
        const int64_t groups = yk_ceil_div(op->rows, group_rows);
        float *partials =
            static_cast<float *>(yk_cuda_lane_scratch(lane, static_cast<size_t>(groups * bytes)));
        if (!partials) {
            return;
        }
        const dim3 grid(static_cast<unsigned>(yk_ceil_div(op->width, COLUMN_LANES)),
                        static_cast<unsigned>(groups));
        walk_columns<<<grid, COLUMN_LANES * COLUMN_STEPS, 0, stream>>>(*op, group_rows, partials);
        yk_add_norm_sums(lane, op, partials, groups);
    }
    const int64_t grid = min64(op->rows, yk_cuda_lane_properties(lane)->processors * SLOW_BLOCKS);
    walk_rows<<<static_cast<unsigned>(grid), YK_TEAM_THREADS, 0, stream>>>(*op);
}

void yk_cuda_norm_backward(struct yk_backend_lane *lane, const struct yk_norm_backward_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    if (!yk_cuda_norm_backward_registers(lane, op)) {
        backward_slow(lane, op);
    }
    yk_cuda_lane_check(lane, cudaGetLastError(), "norm_backward");
}
