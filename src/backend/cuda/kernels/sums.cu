#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/block_sum.cuh"
#include "backend/cuda/kernels/numbers.cuh"
#include "backend/cuda/kernels/span.cuh"

enum {
    THREADS = 512,
    UNITS = 4,    /* fours a thread has under way */
    RESIDENT = 4, /* blocks a processor has at once */
    END_THREADS = 256,
};

/* Squares of large numbers are no fp32, and many small ones would be lost in a sum of it: all is
 * double precision. */
static __device__ __forceinline__ double square(float x)
{
    return static_cast<double>(x) * static_cast<double>(x);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    sum_span(const T *from, yk_vector_span span, double *sums)
{
    const int64_t threads = static_cast<int64_t>(gridDim.x) * THREADS;
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    double sum0 = 0;
    double sum1 = 0;
    for (int64_t first = thread; first < span.fours; first += UNITS * threads) {
        yk_four<T> stored[UNITS] = {};
        yk_load_fours(from, span, first, threads, stored);
#pragma unroll
        for (int unit = 0; unit < UNITS; unit++) {
            const float4 x = yk_unpack_four(stored[unit]);
            sum0 += square(x.x);
            sum1 += square(x.y);
            sum0 += square(x.z);
            sum1 += square(x.w);
        }
    }
    for (int64_t edge = thread; edge < span.edges; edge += threads) {
        sum0 += square(yk_load(from[yk_vector_span_edge(span, edge)]));
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
    const yk_vector_span span =
        yk_vector_span_make(op->count, {{op->from, yk_precision_bytes(op->type)}});
    const unsigned most =
        static_cast<unsigned>(yk_cuda_lane_properties(lane)->processors) * RESIDENT;
    const unsigned needed = yk_vector_span_blocks(span, THREADS, UNITS);
    const unsigned blocks = needed < most ? needed : most;
    double *sums = op->to;
    if (blocks != 1) { /* of no numbers, too, the second kernel writes the sum */
        sums = static_cast<double *>(yk_cuda_lane_scratch(lane, most * sizeof *sums));
        if (!sums) {
            return;
        }
    }
    if (blocks > 0) {
        yk_with_type(op->type, [&](auto number) {
            using T = decltype(number);
            sum_span<<<blocks, THREADS, 0, stream>>>(static_cast<const T *>(op->from), span, sums);
        });
    }
    if (blocks != 1) {
        add_sums<<<1, END_THREADS, 0, stream>>>(sums, blocks, op->to);
    }
    yk_cuda_lane_check(lane, cudaGetLastError(), "sum_squares");
}

static __global__ void __launch_bounds__(END_THREADS) compute_clip(struct yk_clip_norm_op op)
{
    double total = 0;
    for (int64_t i = threadIdx.x; i < op.count; i += END_THREADS) {
        total += op.sums[i];
    }
    total = yk_block_sum(total);
    if (threadIdx.x != 0) {
        return;
    }
    const double unscale = static_cast<double>(op.unscale);
    const double norm = unscale * sqrt(total);
    const double fit = static_cast<double>(op.clip) / (norm + 1e-6);
    const double clipped = op.clip > 0.0F && fit < 1.0 ? fit : 1.0;
    op.gradient_norm->norm = norm;
    op.gradient_norm->factor = static_cast<float>(unscale * clipped);
    op.gradient_norm->skip = isfinite(norm) ? 0 : 1;
}

void yk_cuda_optimizer_clip_norm(struct yk_backend_lane *lane, const struct yk_clip_norm_op *op)
{
    if (!yk_cuda_lane_is_ok(lane)) {
        return;
    }
    compute_clip<<<1, END_THREADS, 0, yk_cuda_lane_stream(lane)>>>(*op);
    yk_cuda_lane_check(lane, cudaGetLastError(), "clip_norm");
}
