#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/activations.cuh"
#include "backend/cuda/kernels/matrix_grid.cuh"

enum {
    AT_ONCE = 2, /* rows whose loads are under way together */
};

/* What a thread has of a row of gate_up (rows, 2 · width). */
template <typename T, int N> struct gate_up {
    yk_packed_vector<T, N> gate;
    yk_packed_vector<T, N> up;

    YK_DEVICE_INLINE gate_up load(const T *rows, int64_t row, int64_t width, int64_t column)
    {
        const T *from = rows + 2 * row * width + column;
        return {yk_load_packed_vector<N>(from), yk_load_packed_vector<N>(from + width)};
    }
};

/* gate_up (rows, 2 · width), out (rows, width) */
template <typename T, int N, yk_activation ACTIVATION> struct gate {
    static constexpr int count = N;
    using held = gate_up<T, N>;
    const T *gate_up_rows;
    T *out;

    __device__ __forceinline__ held load(int64_t row, int64_t width, int64_t column) const
    {
        return held::load(gate_up_rows, row, width, column);
    }

    __device__ __forceinline__ void store(const held &in, int64_t row, int64_t width,
                                          int64_t column) const
    {
        float g[N];
        float u[N];
        yk_unpack_floats(in.gate, g);
        yk_unpack_floats(in.up, u);
        yk_glu_forward<ACTIVATION, T>(g, u);
        yk_store_packed_vector<N>(out + row * width + column, yk_pack_floats<T>(u));
    }
};

/* gate_up and d_gate_up (rows, 2 · width), d_out (rows, width). A thread reads what it overwrites,
 * and nobody else does: d_gate_up may be gate_up. */
template <typename T, int N, yk_activation ACTIVATION> struct glu_backward {
    static constexpr int count = N;
    struct held {
        gate_up<T, N> in;
        yk_packed_vector<T, N> d;
    };
    const T *gate_up_rows;
    const T *d_out;
    T *d_gate_up;

    __device__ __forceinline__ held load(int64_t row, int64_t width, int64_t column) const
    {
        return {gate_up<T, N>::load(gate_up_rows, row, width, column),
                yk_load_packed_vector<N>(d_out + row * width + column)};
    }

    __device__ __forceinline__ void store(const held &held, int64_t row, int64_t width,
                                          int64_t column) const
    {
        float g[N];
        float u[N];
        float x[N];
        yk_unpack_floats(held.in.gate, g);
        yk_unpack_floats(held.in.up, u);
        yk_unpack_floats(held.d, x);
        yk_glu_backward<ACTIVATION, T>(g, u, x);
        T *to = d_gate_up + 2 * row * width + column;
        yk_store_packed_vector<N>(to, yk_pack_floats<T>(g));
        yk_store_packed_vector<N>(to + width, yk_pack_floats<T>(x));
    }
};

/* PASS is one of the two above. */
template <typename PASS>
static __global__ void __launch_bounds__(YK_ROWS_GRID_MAX_BLOCK_THREADS)
    glu_rows(PASS pass, int64_t rows, int64_t width)
{
    const int64_t column = yk_matrix_grid_first_pack() * PASS::count;
    const int64_t step = yk_matrix_grid_row_step();
    if (column >= width) {
        return;
    }
    for (int64_t first = yk_matrix_grid_first_row(); first < rows; first += AT_ONCE * step) {
        typename PASS::held held[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            held[i] = pass.load(yk_matrix_grid_clamp_row(first + i * step, rows), width, column);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = first + i * step;
            if (row < rows) {
                pass.store(held[i], row, width, column);
            }
        }
    }
}

template <typename PASS>
static void launch_rows(struct yk_backend_lane *lane, int64_t rows, int64_t width, const PASS &pass)
{
    const struct yk_matrix_grid grid = yk_matrix_grid_make(rows, width / PASS::count, AT_ONCE);
    glu_rows<<<grid.grid, grid.block, 0, yk_cuda_lane_stream(lane)>>>(pass, rows, width);
}

template <template <typename, int, yk_activation> class PASS, typename T, typename... NUMBERS>
static void enqueue(struct yk_backend_lane *lane, int64_t rows, int64_t width,
                    enum yk_activation activation, NUMBERS *...numbers)
{
    const bool aligned = (yk_are_rows_16_byte_aligned<T>(numbers, width) && ...);
    yk_dispatch_activation(activation, [&](auto constant) {
        constexpr yk_activation ACTIVATION = decltype(constant)::value;
        if (aligned) {
            launch_rows(lane, rows, width,
                        PASS<T, yk_vector_16_bytes<T>::count, ACTIVATION>{numbers...});
        } else {
            launch_rows(lane, rows, width, PASS<T, 1, ACTIVATION>{numbers...});
        }
    });
}

void yk_cuda_glu(struct yk_backend_lane *lane, const struct yk_glu_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    if (op->gate_term.inner) {
        yk_cuda_glu_lora(lane, op);
        return;
    }
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        enqueue<gate, T>(lane, op->rows, op->width, op->activation,
                         static_cast<const T *>(op->gate_up), static_cast<T *>(op->out));
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "glu");
}

void yk_cuda_glu_backward(struct yk_backend_lane *lane, const struct yk_glu_backward_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0 || op->width <= 0) {
        return;
    }
    if (op->gate_term.inner) {
        yk_cuda_glu_backward_lora(lane, op);
        return;
    }
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        enqueue<glu_backward, T>(
            lane, op->rows, op->width, op->activation, static_cast<const T *>(op->gate_up),
            static_cast<const T *>(op->d_out), static_cast<T *>(op->d_gate_up));
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "glu_backward");
}
