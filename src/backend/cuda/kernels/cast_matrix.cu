/* Matrices brought into another type, row by row. */
#include "backend/cuda/kernels/numbers.cuh"

enum {
    THREADS = 256,
};

template <typename From, typename To>
static __global__ void cast_rows(int64_t rows, int64_t columns, const From *from,
                                 int64_t from_stride, To *to, int64_t to_stride, bool adds)
{
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
        const From *in = from + row * from_stride;
        To *out = to + row * to_stride;
        const int64_t step = (int64_t)gridDim.x * blockDim.x;
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < columns; i += step) {
            const float before = adds ? yk_load(out[i]) : 0.0F;
            out[i] = yk_store<To>(before + yk_load(in[i]));
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
    const int64_t across = yk_ceil_div(columns, THREADS);
    const dim3 grid((unsigned)(across < 64 ? across : 64), (unsigned)(rows < 32768 ? rows : 32768));
    yk_with_type(from_type, [&](auto in) {
        yk_with_type(to_type, [&](auto out) {
            using From = decltype(in);
            using To = decltype(out);
            cast_rows<From, To><<<grid, THREADS, 0, yk_cuda_lane_stream(lane)>>>(
                rows, columns, static_cast<const From *>(from), from_stride, static_cast<To *>(to),
                to_stride, adds);
        });
    });
    yk_cuda_lane_check(lane, cudaGetLastError(), "cast");
}
