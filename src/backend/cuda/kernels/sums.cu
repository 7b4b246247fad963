#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/aligned_groups.cuh"
#include "backend/cuda/kernels/elements.cuh"
#include "backend/cuda/kernels/partial_sums.cuh"

/* ---- squares ---- */

enum {
    THREADS = 512,
    UNITS = 4,    /* fours a thread has under way */
    RESIDENT = 4, /* blocks a processor has at once */
    END_THREADS = 256,
};

/* Squares of large numbers are no fp32, and many small ones would be lost in a sum of it: all is
 * double precision. */
YK_DEVICE_INLINE double square(float x)
{
    return static_cast<double>(x) * static_cast<double>(x);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    sum_span(const T *from, yk_aligned_groups span, double *sums)
{
    const int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    double sum0 = 0;
    double sum1 = 0;
    for (int64_t first = thread; first < span.fours; first += UNITS * threads) {
        yk_packed_four<T> stored[UNITS] = {};
        yk_aligned_groups_load(from, span, first, threads, stored);
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const float4 x = yk_unpack_to_float4(stored[unit]);
            sum0 += square(x.x);
            sum1 += square(x.y);
            sum0 += square(x.z);
            sum1 += square(x.w);
        }
    }
    for (int64_t edge = thread; edge < span.edges; edge += threads) {
        sum0 += square(yk_to_float(from[yk_aligned_groups_edge_index(span, edge)]));
    }
    const double sum = yk_block_sum(sum0 + sum1);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

static __global__ void __launch_bounds__(END_THREADS)
    add_sums(const double *sums, unsigned count, double *to)
{
    double sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += END_THREADS) {
        sum += sums[i];
    }
    sum = yk_block_sum(sum);
    if (threadIdx.x == 0) {
        *to = sum;
    }
}

void yk_cuda_sum_squares(struct yk_backend_lane *lane, const struct yk_sum_squares_op *op)
{
    if (!yk_cuda_lane_is_ok(lane)) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const yk_aligned_groups span =
        yk_aligned_groups_make(op->count, {{op->from, yk_precision_bytes(op->type)}});
    const unsigned most =
        static_cast<unsigned>(yk_cuda_lane_device_properties(lane)->processors) * RESIDENT;
    const unsigned needed = yk_aligned_groups_block_count(span, THREADS, UNITS);
    const unsigned blocks = needed < most ? needed : most;
    double *sums = op->to;
    if (blocks != 1) { /* of no numbers, too, the second kernel writes the sum */
        sums = static_cast<double *>(yk_cuda_lane_get_scratch(lane, most * sizeof *sums));
        if (!sums) {
            return;
        }
    }
    if (blocks > 0) {
        yk_dispatch_type(op->type, [&](auto number) {
            using T = decltype(number);
            sum_span<<<blocks, THREADS, 0, stream>>>(static_cast<const T *>(op->from), span, sums);
        });
    }
    if (blocks != 1) {
        add_sums<<<1, END_THREADS, 0, stream>>>(sums, blocks, op->to);
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "sum_squares");
}

/* ---- rows ---- */

/*
 * A block sums a group of rows of 32 · N columns: its warps take the rows in turn, a thread N
 * columns. The groups' sums go to scratch, (groups, columns), and are added up by a kernel of their
 * own; where the columns alone keep the chip busy there is one group, which adds to the target.
 */
enum {
    ROWS_THREADS = 256,
    WARPS = ROWS_THREADS / 32,
    TOGETHER = 4,    /* rows a thread has on their way at once */
    SUM_BLOCKS = 4,  /* of an SM */
    GROUP_ROWS = 32, /* at least: WARPS · TOGETHER */
};

template <typename T, int N>
YK_DEVICE_INLINE void add_bunch(const yk_vector<T, N> &bunch, float (&sums)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        sums[i] += yk_to_float(bunch.numbers[i]);
    }
}

/* Columns `column` to column + N − 1 of rows first, first + WARPS … before `end`. */
template <typename T, int N>
YK_DEVICE_INLINE void sum_column_rows(const struct yk_sum_rows_op &op, int64_t column,
                                      int64_t first, int64_t end, float (&sums)[N])
{
    int64_t row = first;
    for (; row + (TOGETHER - 1) * WARPS < end; row += TOGETHER * WARPS) {
        yk_vector<T, N> bunches[TOGETHER];
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            bunches[i] = yk_load_vector<T, N>(op.from, (row + i * WARPS) * op.stride + column);
        }
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            add_bunch(bunches[i], sums);
        }
    }
    for (; row < end; row += WARPS) {
        add_bunch(yk_load_vector<T, N>(op.from, row * op.stride + column), sums);
    }
}

template <typename T, int N>
static __global__ void __launch_bounds__(ROWS_THREADS, SUM_BLOCKS)
    sum_group(struct yk_sum_rows_op op, int64_t group_rows, float *partials)
{
    __shared__ yk_vector<float, N> shared[WARPS][32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int64_t first_column = static_cast<int64_t>(blockIdx.x) * 32 * N;
    const int64_t first = blockIdx.y * group_rows;
    const int64_t end = first + group_rows < op.rows ? first + group_rows : op.rows;
    float sums[N] = {};
    if (first_column + lane * N < op.columns) {
        sum_column_rows<T, N>(op, first_column + lane * N, first + warp, end, sums);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        shared[warp][lane].numbers[i] = sums[i];
    }
    __syncthreads();
    const int64_t column = first_column + threadIdx.x;
    if (threadIdx.x >= 32 * N || column >= op.columns) {
        return;
    }
    float total = 0;
#pragma unroll
    for (int i = 0; i < WARPS; i++) {
        total += shared[i][threadIdx.x / N].numbers[threadIdx.x % N];
    }
    if (partials) {
        partials[blockIdx.y * op.columns + column] = total;
    } else {
        yk_typed_add_to_element(op.to_type, op.to, column, total);
    }
}

template <typename T, int N>
static void sum_groups(struct yk_backend_lane *lane, const struct yk_sum_rows_op *op)
{
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t tiles = yk_number_ceil_div(op->columns, 32 * N);
    const int64_t wanted_blocks =
        yk_cuda_lane_device_properties(lane)->processors * SUM_BLOCKS / tiles;
    const int64_t max_blocks = yk_number_ceil_div(op->rows, GROUP_ROWS);
    const int64_t even = yk_number_max(1, yk_number_min(wanted_blocks, max_blocks));
    const int64_t group_rows = yk_number_ceil_div(op->rows, even);
    const int64_t groups = yk_number_ceil_div(op->rows, group_rows);
    float *partials = nullptr;
    if (groups > 1) {
        const size_t bytes = static_cast<size_t>(groups * op->columns) * sizeof(float);
        partials = static_cast<float *>(yk_cuda_lane_get_scratch(lane, bytes));
        if (!partials) {
            return;
        }
    }
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(groups));
    sum_group<T, N><<<grid, ROWS_THREADS, 0, stream>>>(*op, group_rows, partials);
    if (groups > 1) {
        const struct yk_partial_sums sums = {
            partials, op->columns, static_cast<int32_t>(groups), 1, {op->to, nullptr}, op->to_type};
        yk_partial_sums_enqueue_final_sum(stream, &sums);
    }
}

void yk_cuda_sum_rows(struct yk_backend_lane *lane, const struct yk_sum_rows_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->columns <= 0) {
        return;
    }
    yk_dispatch_type(op->from_type, [&](auto number) {
        using T = decltype(number);
        constexpr int N = yk_vector_16_bytes<T>::count;
        if (yk_are_rows_16_byte_aligned<T>(op->from, op->stride) && op->columns % N == 0) {
            sum_groups<T, N>(lane, op);
        } else {
            sum_groups<T, 1>(lane, op);
        }
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "sum_rows");
}
