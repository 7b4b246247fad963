/*
 * Checks whether the output of a matmul is correct. Some library algorithms are wrong on
 * configurations that their authors did not test, such as a part of a GPU. Before an algorithm is
 * used, a sample of the elements from all tiles of its output is recomputed, one warp per element.
 */
#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/activations.cuh"
#include "backend/cuda/kernels/row_registers.cuh"
#include "backend/cuda/matmul/matmul_tolerance.h"

enum {
    WARPS = 8,
    TILE = 64, /* rows and columns; at least one element of each tile is checked */
    MIN_SAMPLES = 4096,
    MAX_SAMPLES = 1 << 18,
    SUM_SAMPLES = 256,
};

/* A pseudo-random number below `end` (Knuth's multiplicative hash). */
YK_DEVICE_INLINE int64_t place_of(unsigned sample, unsigned salt, int64_t end)
{
    const unsigned mixed = (sample * 2654435761U) ^ (salt * 2246822519U);
    return static_cast<int64_t>((static_cast<unsigned long long>(mixed * 2654435761U) *
                                 static_cast<unsigned long long>(end)) >>
                                32);
}

/* What a backward epilogue reads, otherwise 0. */
static __device__ float load_aux(const struct yk_matmul_op &op, int64_t row, int64_t column)
{
    return op.aux && op.epilogue >= YK_EPILOGUE_GELU_BACKWARD
               ? yk_typed_load_one(op.c_type, op.aux, row * op.aux_stride + column)
               : 0.0F;
}

/* The value after the epilogue of an element whose value before is `x`. */
static __device__ float apply_epilogue(const struct yk_matmul_op &op, float aux, float x)
{
    float value[1] = {x};
    const float input[1] = {aux};
    yk_apply_epilogue<float>(op.epilogue, input, value);
    return value[0];
}

/* How much the epilogue may enlarge an error of its input `x`. The slope of all epilogues but the
 * square is about 1 at most. */
static __device__ float error_factor(const struct yk_matmul_op &op, float aux, float x)
{
    const float slope = op.epilogue == YK_EPILOGUE_RELU_SQUARED ? yk_relu_squared_derivative(x)
                        : op.epilogue == YK_EPILOGUE_RELU_SQUARED_BACKWARD
                            ? yk_relu_squared_derivative(aux)
                            : 1.0F;
    return slope > 1.0F ? slope : 1.0F;
}

static __device__ void check_number(enum yk_precision type, float made,
                                    const struct yk_matmul_expected_element &number,
                                    struct yk_matmul_check_counts *out)
{
    const enum yk_matmul_tolerance_result verdict =
        yk_matmul_tolerance_check_element(type, made, &number);
    if (verdict == YK_MATMUL_BEYOND_TOLERANCE) {
        atomicAdd(&out->bad, 1);
    } else if (verdict == YK_MATMUL_WITHIN_TOLERANCE) {
        atomicAdd(&out->correct, 1);
    }
}

/* Checks elements of c. There are `tiles` tiles, `wide` of them in a row of tiles. */
static __global__ void __launch_bounds__(32 * WARPS)
    check_numbers(struct yk_matmul_op op, int64_t wide, int64_t tiles, bool from_zero,
                  struct yk_matmul_check_counts *out)
{
    const unsigned sample = blockIdx.x * WARPS + threadIdx.x / 32;
    const int64_t samples = static_cast<int64_t>(gridDim.x) * WARPS;
    const int64_t tile = tiles > samples ? sample * tiles / samples : sample % tiles;
    const int64_t row = min(tile / wide * TILE + place_of(sample, 1, TILE), op.m - 1);
    const int64_t column = min(tile % wide * TILE + place_of(sample, 2, TILE), op.n - 1);
    float sum = 0;
    float squares = 0;
    for (int64_t i = threadIdx.x % 32; i < op.k; i += 32) {
        const int64_t in_a = op.a_transposed ? i * op.a_stride + row : row * op.a_stride + i;
        const int64_t in_b = op.b_transposed ? column * op.b_stride + i : i * op.b_stride + column;
        const float term =
            yk_typed_load_one(op.a_type, op.a, in_a) * yk_typed_load_one(op.b_type, op.b, in_b);
        sum += term;
        squares += term * term;
    }
    sum = yk_warp_sum(sum);
    squares = yk_warp_sum(squares);
    if (threadIdx.x % 32 != 0) {
        return;
    }
    const float product = op.scale * sum;
    const float amount = fabsf(op.scale) * sqrtf(squares);
    float x = product;
    if (op.bias) {
        x += yk_typed_load_one(op.bias_type, op.bias, column);
    }
    if (op.add && !from_zero) {
        x += yk_typed_load_one(op.c_type, op.add, row * op.add_stride + column);
    }
    if (op.aux && op.epilogue == YK_EPILOGUE_GELU) {
        check_number(op.c_type, yk_typed_load_one(op.c_type, op.aux, row * op.aux_stride + column),
                     {product, x, x, amount}, out);
    }
    const float aux = load_aux(op, row, column);
    check_number(op.c_type, yk_typed_load_one(op.c_type, op.c, row * op.c_stride + column),
                 {product, x, apply_epilogue(op, aux, x), amount * error_factor(op, aux, x)}, out);
}

/* Checks row sums; `op` would compute them. `sums` has the type `type`. */
static __global__ void __launch_bounds__(32 * WARPS)
    check_sums(struct yk_sum_rows_op op, enum yk_precision type, const void *sums,
               struct yk_matmul_check_counts *out)
{
    const unsigned sample = blockIdx.x * WARPS + threadIdx.x / 32;
    const int64_t column = place_of(sample, 3, op.columns);
    float sum = 0;
    float squares = 0;
    for (int64_t i = threadIdx.x % 32; i < op.rows; i += 32) {
        const float x = yk_typed_load_one(op.from_type, op.from, i * op.stride + column);
        sum += x;
        squares += x * x;
    }
    sum = yk_warp_sum(sum);
    squares = yk_warp_sum(squares);
    if (threadIdx.x % 32 == 0) {
        check_number(type, yk_typed_load_one(type, sums, column), {sum, sum, sum, sqrtf(squares)},
                     out);
    }
}

void yk_cuda_matmul_check(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                          bool from_zero, const void *sums, struct yk_matmul_check_counts *out)
{
    const cudaStream_t stream = yk_cuda_lane_stream(lane);
    const int64_t wide = yk_number_ceil_div(op->n, TILE);
    const int64_t tiles = yk_number_ceil_div(op->m, TILE) * wide;
    const int64_t samples = yk_number_min(yk_number_max(tiles, MIN_SAMPLES), MAX_SAMPLES);
    const unsigned blocks = yk_block_count(samples, WARPS);
    struct yk_matmul_op done = *op;
    if (op->accumulate) { /* then the op has none of these */
        done.bias = nullptr;
        done.add = nullptr;
        done.epilogue = YK_EPILOGUE_NONE;
    }
    check_numbers<<<blocks, 32 * WARPS, 0, stream>>>(done, wide, tiles, from_zero, out);
    if (sums) {
        check_sums<<<SUM_SAMPLES / WARPS, 32 * WARPS, 0, stream>>>(
            yk_ops_make_sum_rows_op_of_matmul(op), op->c_type, sums, out);
    }
}

static __global__ void scatter_numbers(int64_t count, unsigned salt, enum yk_precision type,
                                       void *to)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < count;
         i += step) {
        const int64_t drawn = place_of(static_cast<unsigned>(i), salt + 4, 255);
        const float x[1] = {static_cast<float>(drawn - 127) / 128.0F};
        yk_typed_store<1>(type, to, i, x);
    }
}

void yk_cuda_matmul_check_fill_random(struct yk_backend_lane *lane, int64_t count, unsigned salt,
                                      enum yk_precision type, void *to)
{
    enum {
        BLOCKS = 1024,
    };
    scatter_numbers<<<BLOCKS, 32 * WARPS, 0, yk_cuda_lane_stream(lane)>>>(count, salt, type, to);
}
