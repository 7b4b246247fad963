#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/activations.cuh"
#include "backend/cuda/kernels/matrix_grid.cuh"

enum {
    AT_ONCE = 2,     /* rows that a thread loads at the same time */
    BLOCKS_EACH = 32 /* blocks per SM: few, so that a thread uses its bias for several rows */
};

static __host__ __device__ bool reads_aux(const struct yk_matmul_op &op)
{
    return op.epilogue >= YK_EPILOGUE_GELU_BACKWARD;
}

static __host__ __device__ bool writes_aux(const struct yk_matmul_op &op)
{
    return op.aux && (op.epilogue == YK_EPILOGUE_GELU || op.epilogue == YK_EPILOGUE_GELU_ERF ||
                      op.epilogue == YK_EPILOGUE_RELU_SQUARED || op.epilogue == YK_EPILOGUE_SILU);
}

template <int N>
YK_DEVICE_INLINE void load_bias(const void *bias, enum yk_precision type, int64_t column,
                                float (&x)[N])
{
    yk_dispatch_type(type, [&](auto number) {
        yk_unpack_floats(
            yk_load_packed_vector<N>(static_cast<const decltype(number) *>(bias) + column), x);
    });
}

/* Applies bias, add and epilogue to one pack of c. */
template <typename T, int N>
YK_DEVICE_INLINE void end_pack(const struct yk_matmul_op &op, int64_t row, int64_t column,
                               const float (&bias)[N], const yk_packed_vector<T, N> &c,
                               const yk_packed_vector<T, N> &add, const yk_packed_vector<T, N> &aux)
{
    float x[N];
    float y[N];
    yk_unpack_floats(c, x);
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] += bias[i];
    }
    if (op.add) {
        yk_unpack_floats(add, y);
#pragma unroll
        for (int i = 0; i < N; i++) {
            x[i] += y[i];
        }
    }
    if (writes_aux(op)) {
        yk_store_packed_vector<N>(static_cast<T *>(op.aux) + row * op.aux_stride + column,
                                  yk_pack_floats<T>(x));
    }
    yk_unpack_floats(aux, y);
    yk_apply_epilogue<T>(op.epilogue, y, x);
    yk_store_packed_vector<N>(static_cast<T *>(op.c) + row * op.c_stride + column,
                              yk_pack_floats<T>(x));
}

template <typename T, int N>
static __global__ void __launch_bounds__(YK_ROWS_GRID_MAX_BLOCK_THREADS, 4)
    end_rows(struct yk_matmul_op op)
{
    const int64_t column = yk_matrix_grid_first_pack() * N;
    const int64_t step = yk_matrix_grid_row_step();
    float bias[N] = {};
    if (column >= op.n) {
        return;
    }
    if (op.bias) {
        load_bias(op.bias, op.bias_type, column, bias);
    }
    for (int64_t first = yk_matrix_grid_first_row(); first < op.m; first += AT_ONCE * step) {
        yk_packed_vector<T, N> c[AT_ONCE];
        yk_packed_vector<T, N> add[AT_ONCE] = {};
        yk_packed_vector<T, N> aux[AT_ONCE] = {};
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = yk_matrix_grid_clamp_row(first + i * step, op.m);
            c[i] =
                yk_load_packed_vector<N>(static_cast<const T *>(op.c) + row * op.c_stride + column);
            if (op.add) {
                add[i] = yk_load_packed_vector<N>(static_cast<const T *>(op.add) +
                                                  row * op.add_stride + column);
            }
            if (reads_aux(op)) {
                aux[i] = yk_load_packed_vector<N>(static_cast<const T *>(op.aux) +
                                                  row * op.aux_stride + column);
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int64_t row = first + i * step;
            if (row < op.m) {
                end_pack(op, row, column, bias, c[i], add[i], aux[i]);
            }
        }
    }
}

template <typename T, int N>
static void launch(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    struct yk_matrix_grid grid = yk_matrix_grid_make(op->m, op->n / N, AT_ONCE);
    const int64_t max =
        static_cast<int64_t>(yk_cuda_lane_device_properties(lane)->processors) * BLOCKS_EACH;
    const int64_t down = yk_number_ceil_div(max, grid.grid.x);
    if (grid.grid.y > down) {
        grid.grid.y = static_cast<unsigned>(down);
    }
    end_rows<T, N><<<grid.grid, grid.block, 0, yk_cuda_lane_stream(lane)>>>(*op);
}

void yk_cuda_matmul_apply_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->m <= 0 || op->n <= 0 ||
        (!op->bias && !op->add && op->epilogue == YK_EPILOGUE_NONE)) {
        return;
    }
    const bool uses_aux = reads_aux(*op) || writes_aux(*op);
    yk_dispatch_type(op->c_type, [&](auto number) {
        using T = decltype(number);
        constexpr int n = yk_vector_16_bytes<T>::count;
        if (op->n % n == 0 && yk_are_rows_16_byte_aligned<T>(op->c, op->c_stride) &&
            (!op->add || yk_are_rows_16_byte_aligned<T>(op->add, op->add_stride)) &&
            (!uses_aux || yk_are_rows_16_byte_aligned<T>(op->aux, op->aux_stride)) &&
            yk_are_rows_16_byte_aligned<float>(op->bias, 0)) {
            launch<T, n>(lane, op);
        } else {
            launch<T, 1>(lane, op);
        }
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "matmul");
}
