#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/aligned_groups.cuh"
#include "backend/cuda/kernels/elements.cuh"

enum {
    THREADS = 256,
    UNITS = 4, /* groups of four elements per thread */
};

YK_DEVICE_INLINE float4 sum_of(const float4 &a, const float4 &b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* to = from, or to += from with ADDS. */
template <bool ADDS, typename From, typename To>
static __global__ void __launch_bounds__(THREADS)
    cast_span(const From *from, To *to, yk_aligned_groups span)
{
    const int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS * UNITS + threadIdx.x;
    yk_packed_four<From> x[UNITS];
    yk_packed_four<To> y[UNITS];
    yk_aligned_groups_load(from, span, first, THREADS, x);
    if (ADDS) {
        yk_aligned_groups_load(static_cast<const To *>(to), span, first, THREADS, y);
    }
#pragma unroll
    for (int unit = 0; unit < UNITS; unit++) {
        const int64_t at = first + unit * THREADS;
        if (at < span.fours) {
            const float4 four = yk_unpack_to_float4(x[unit]);
            yk_store_float4(to + span.head + 4 * at,
                            ADDS ? sum_of(yk_unpack_to_float4(y[unit]), four) : four);
        }
    }
    const int64_t step = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t edge = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; edge < span.edges;
         edge += step) {
        const int64_t at = yk_aligned_groups_edge_index(span, edge);
        const float one = yk_to_float(from[at]);
        to[at] = yk_from_float<To>(ADDS ? yk_to_float(to[at]) + one : one);
    }
}

void yk_cuda_elementwise_cast(struct yk_backend_lane *lane, const struct yk_cast_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const yk_aligned_groups span =
        yk_aligned_groups_make(op->count, {{op->from, yk_precision_bytes(op->from_type)},
                                           {op->to, yk_precision_bytes(op->to_type)}});
    const unsigned blocks = yk_aligned_groups_block_count(span, THREADS, UNITS);
    yk_dispatch_type(op->from_type, [&](auto from) {
        yk_dispatch_type(op->to_type, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            cast_span<false><<<blocks, THREADS, 0, stream>>>(static_cast<const From *>(op->from),
                                                             static_cast<To *>(op->to), span);
        });
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "cast");
}

void yk_cuda_elementwise_add(struct yk_backend_lane *lane, const struct yk_add_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->count <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t bytes = yk_precision_bytes(op->type);
    const yk_aligned_groups span =
        yk_aligned_groups_make(op->count, {{op->from, bytes}, {op->to, bytes}});
    const unsigned blocks = yk_aligned_groups_block_count(span, THREADS, UNITS);
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        cast_span<true><<<blocks, THREADS, 0, stream>>>(static_cast<const T *>(op->from),
                                                        static_cast<T *>(op->to), span);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "add");
}

template <typename From, typename To>
static __global__ void cast_rows(int64_t rows, int64_t columns, const From *from,
                                 int64_t from_stride, To *to, int64_t to_stride, bool adds)
{
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
        const From *in = from + row * from_stride;
        To *out = to + row * to_stride;
        const int64_t step = (int64_t)gridDim.x * blockDim.x;
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < columns; i += step) {
            const float before = adds ? yk_to_float(out[i]) : 0.0F;
            out[i] = yk_from_float<To>(before + yk_to_float(in[i]));
        }
    }
}

void yk_cuda_elementwise_cast_matrix(struct yk_backend_lane *lane, int64_t rows, int64_t columns,
                                     const void *from, int64_t from_stride,
                                     enum yk_precision from_type, void *to, int64_t to_stride,
                                     enum yk_precision to_type, bool adds)
{
    if (!yk_cuda_lane_is_ok(lane) || rows == 0 || columns == 0) {
        return;
    }
    const int64_t across = yk_number_ceil_div(columns, THREADS);
    const dim3 grid((unsigned)(across < 64 ? across : 64), (unsigned)(rows < 32768 ? rows : 32768));
    yk_dispatch_type(from_type, [&](auto in) {
        yk_dispatch_type(to_type, [&](auto out) {
            using From = decltype(in);
            using To = decltype(out);
            cast_rows<From, To><<<grid, THREADS, 0, yk_cuda_lane_stream(lane)>>>(
                rows, columns, static_cast<const From *>(from), from_stride, static_cast<To *>(to),
                to_stride, adds);
        });
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "cast");
}
