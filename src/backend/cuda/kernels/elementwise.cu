#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/numbers.cuh"
#include "backend/cuda/kernels/span.cuh"

enum {
    THREADS = 256,
    UNITS = 4, /* fours a thread has under way */
};

static __device__ __forceinline__ int64_t first_edge(void)
{
    return static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
}

static __device__ __forceinline__ int64_t edge_step(void)
{
    return static_cast<int64_t>(gridDim.x) * THREADS;
}

template <typename From, typename To>
static __global__ void __launch_bounds__(THREADS)
    cast_span(const From *from, To *to, yk_vector_span span)
{
    const int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS * UNITS + threadIdx.x;
    yk_four<From> x[UNITS];
    yk_load_fours(from, span, first, THREADS, x);
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = first + unit * THREADS;
        if (at < span.fours) {
            yk_store_four(to + span.head + 4 * at, yk_unpack_four(x[unit]));
        }
    }
    for (int64_t edge = first_edge(); edge < span.edges; edge += edge_step()) {
        const int64_t at = yk_vector_span_edge(span, edge);
        to[at] = yk_store<To>(yk_load(from[at]));
    }
}

void yk_cuda_elementwise_cast(struct yk_backend_lane *lane, const struct yk_cast_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const yk_vector_span span =
        yk_vector_span_make(op->count, {{op->from, yk_precision_bytes(op->from_type)},
                                        {op->to, yk_precision_bytes(op->to_type)}});
    const unsigned blocks = yk_vector_span_blocks(span, THREADS, UNITS);
    yk_with_type(op->from_type, [&](auto from) {
        yk_with_type(op->to_type, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            cast_span<<<blocks, THREADS, 0, stream>>>(static_cast<const From *>(op->from),
                                                      static_cast<To *>(op->to), span);
        });
    });
    yk_cuda_lane_check(lane, cudaGetLastError(), "cast");
}

static __device__ __forceinline__ float4 sum_of(const float4 &a, const float4 &b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    add_span(const T *from, T *to, yk_vector_span span)
{
    const int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS * UNITS + threadIdx.x;
    yk_four<T> x[UNITS];
    yk_four<T> y[UNITS];
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = first + unit * THREADS;
        if (at < span.fours) {
            x[unit] = yk_load_four(from + span.head + 4 * at);
            y[unit] = yk_load_four(to + span.head + 4 * at);
        }
    }
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = first + unit * THREADS;
        if (at < span.fours) {
            yk_store_four(to + span.head + 4 * at,
                          sum_of(yk_unpack_four(y[unit]), yk_unpack_four(x[unit])));
        }
    }
    for (int64_t edge = first_edge(); edge < span.edges; edge += edge_step()) {
        const int64_t at = yk_vector_span_edge(span, edge);
        to[at] = yk_store<T>(yk_load(to[at]) + yk_load(from[at]));
    }
}

void yk_cuda_elementwise_add(struct yk_backend_lane *lane, const struct yk_add_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t bytes = yk_precision_bytes(op->type);
    const yk_vector_span span =
        yk_vector_span_make(op->count, {{op->from, bytes}, {op->to, bytes}});
    const unsigned blocks = yk_vector_span_blocks(span, THREADS, UNITS);
    yk_with_type(op->type, [&](auto number) {
        using T = decltype(number);
        add_span<<<blocks, THREADS, 0, stream>>>(static_cast<const T *>(op->from),
                                                 static_cast<T *>(op->to), span);
    });
    yk_cuda_lane_check(lane, cudaGetLastError(), "add");
}
