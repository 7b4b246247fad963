#include "backend/cuda/kernels.h"

#include "backend/cuda/curves.cuh"
#include "backend/cuda/rows.cuh"

enum {
    AT_ONCE = 2, /* rows whose loads are under way together */
};

/* gate_up (rows, 2 · width), out (rows, width) */
template <typename T, int N>
static __global__ void __launch_bounds__(YK_ROWS_THREADS)
    gate_rows(const T *gate_up, T *out, int64_t rows, int64_t width)
{
    const int64_t column = yk_first_pack() * N;
    const int64_t step = yk_row_step();
    if (column >= width) {
        return;
    }
    for (int64_t first = yk_first_row(); first < rows; first += AT_ONCE * step) {
        yk_pack<T, N> gate[AT_ONCE];
        yk_pack<T, N> up[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = yk_row_within(first + i * step, rows);
            const T *from = gate_up + 2 * row * width + column;
            gate[i] = yk_take<N>(from);
            up[i] = yk_take<N>(from + width);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = first + i * step;
            if (row < rows) {
                float g[N];
                float u[N];
                yk_open(gate[i], g);
                yk_open(up[i], u);
#pragma unroll
                for (int j = 0; j < N; j++) {
                    u[j] *= yk_silu<T>(g[j]);
                }
                yk_put<N>(out + row * width + column, yk_close<T>(u));
            }
        }
    }
}

template <typename T>
static void gate_of_type(struct yk_backend_lane *lane, const struct yk_gate *op)
{
    constexpr int n = yk_wide<T>::count;
    const T *gate_up = static_cast<const T *>(op->gate_up);
    T *out = static_cast<T *>(op->out);
    const cudaStream_t stream = yk_cuda_stream(lane);
    if (yk_is_wide<T>(gate_up, op->width) && yk_is_wide<T>(out, op->width)) {
        const struct yk_rows_layout layout = yk_lay_rows(op->rows, op->width / n, AT_ONCE);
        gate_rows<T, n>
            <<<layout.grid, layout.block, 0, stream>>>(gate_up, out, op->rows, op->width);
    } else {
        const struct yk_rows_layout layout = yk_lay_rows(op->rows, op->width, AT_ONCE);
        gate_rows<T, 1>
            <<<layout.grid, layout.block, 0, stream>>>(gate_up, out, op->rows, op->width);
    }
}

void yk_cuda_gate(struct yk_backend_lane *lane, const struct yk_gate *op)
{
    if (!yk_cuda_sound(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    yk_with_type(op->type, [&](auto number) { gate_of_type<decltype(number)>(lane, op); });
    yk_cuda_note(lane, cudaGetLastError(), "gate");
}

/* gate_up and d_gate_up (rows, 2 · width), d_out (rows, width). A thread reads what it overwrites,
 * and nobody else does: d_gate_up may be gate_up. */
template <typename T, int N>
static __global__ void __launch_bounds__(YK_ROWS_THREADS)
    gate_back_rows(const T *gate_up, const T *d_out, T *d_gate_up, int64_t rows, int64_t width)
{
    const int64_t column = yk_first_pack() * N;
    const int64_t step = yk_row_step();
    if (column >= width) {
        return;
    }
    for (int64_t first = yk_first_row(); first < rows; first += AT_ONCE * step) {
        yk_pack<T, N> gate[AT_ONCE];
        yk_pack<T, N> up[AT_ONCE];
        yk_pack<T, N> d[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = yk_row_within(first + i * step, rows);
            const T *from = gate_up + 2 * row * width + column;
            gate[i] = yk_take<N>(from);
            up[i] = yk_take<N>(from + width);
            d[i] = yk_take<N>(d_out + row * width + column);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = first + i * step;
            if (row < rows) {
                float g[N];
                float u[N];
                float x[N];
                yk_open(gate[i], g);
                yk_open(up[i], u);
                yk_open(d[i], x);
#pragma unroll
                for (int j = 0; j < N; j++) {
                    const float s = yk_logistic<T>(g[j]);
                    const float d_silu = x[j] * s;
                    x[j] = d_silu * g[j];
                    g[j] = d_silu * u[j] * (1.0F + g[j] * (1.0F - s));
                }
                T *to = d_gate_up + 2 * row * width + column;
                yk_put<N>(to, yk_close<T>(g));
                yk_put<N>(to + width, yk_close<T>(x));
            }
        }
    }
}

template <typename T>
static void gate_back_of_type(struct yk_backend_lane *lane, const struct yk_gate_back *op)
{
    constexpr int n = yk_wide<T>::count;
    const T *gate_up = static_cast<const T *>(op->gate_up);
    const T *d_out = static_cast<const T *>(op->d_out);
    T *d_gate_up = static_cast<T *>(op->d_gate_up);
    const cudaStream_t stream = yk_cuda_stream(lane);
    if (yk_is_wide<T>(gate_up, op->width) && yk_is_wide<T>(d_out, op->width) &&
        yk_is_wide<T>(d_gate_up, op->width)) {
        const struct yk_rows_layout layout = yk_lay_rows(op->rows, op->width / n, AT_ONCE);
        gate_back_rows<T, n><<<layout.grid, layout.block, 0, stream>>>(gate_up, d_out, d_gate_up,
                                                                       op->rows, op->width);
    } else {
        const struct yk_rows_layout layout = yk_lay_rows(op->rows, op->width, AT_ONCE);
        gate_back_rows<T, 1><<<layout.grid, layout.block, 0, stream>>>(gate_up, d_out, d_gate_up,
                                                                       op->rows, op->width);
    }
}

void yk_cuda_gate_back(struct yk_backend_lane *lane, const struct yk_gate_back *op)
{
    if (!yk_cuda_sound(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    yk_with_type(op->type, [&](auto number) { gate_back_of_type<decltype(number)>(lane, op); });
    yk_cuda_note(lane, cudaGetLastError(), "gate_back");
}
