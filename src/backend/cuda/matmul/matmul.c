/*
 * Matmul: the library takes two operands of one type and gives that type or fp32. Other products go
 * through fp32 in scratch memory, as tf32 where anything in them has 16 bits.
 */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/matmul/gemm.h"
#include "backend/cuda/matmul/split.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    BF16_CAPABILITY = 80, /* from which products of that type are there */
    TF32_CAPABILITY = 80,
};

static bool is_half(enum yk_precision type)
{
    return yk_precision_bytes(type) == 2;
}

static enum yk_precision plain(enum yk_precision type)
{
    return type == YK_PRECISION_TF32 ? YK_PRECISION_FP32 : type;
}

static bool is_done_before(const struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const enum yk_precision type = plain(op->a_type);
    const bool entry =
        type != YK_PRECISION_BF16 || lane->device->properties.capability >= BF16_CAPABILITY;
    return entry && type == plain(op->b_type) &&
           (plain(op->c_type) == YK_PRECISION_FP32 || plain(op->c_type) == type);
}

/* By the library, as far as it can, and by kernels of ours. */
static void multiply(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    char *workspace = yk_cuda_lane_scratch(lane, YK_CUBLAS_WORKSPACE_BYTES + YK_GEMM_SUMS_BYTES);
    if (!workspace) {
        return;
    }
    struct yk_gemm gemm = yk_gemm_make(lane, op, workspace);
    const struct yk_cublas_call call =
        yk_gemm_call(&gemm, workspace, workspace + YK_CUBLAS_WORKSPACE_BYTES);
    if (!yk_cublas_run(lane->device->cublas, &gemm.shape, &call, yk_matmul_autotune, &gemm,
                       &gemm.variant)) {
        char message[YK_CUDA_TEXT_SIZE];
        (void)snprintf(message, sizeof message,
                       "cuBLASLt has no way to take a product of %" PRId64 " x %" PRId64
                       " x %" PRId64 " in %s",
                       op->m, op->n, op->k, yk_precision_name(op->a_type));
        yk_cuda_lane_fail(lane, message);
        return;
    }
    yk_gemm_finish(&gemm);
}

static int64_t rows_of_a(const struct yk_matmul_op *op)
{
    return op->a_transposed ? op->k : op->m;
}

static int64_t columns_of_a(const struct yk_matmul_op *op)
{
    return op->a_transposed ? op->m : op->k;
}

static int64_t rows_of_b(const struct yk_matmul_op *op)
{
    return op->b_transposed ? op->n : op->k;
}

static int64_t columns_of_b(const struct yk_matmul_op *op)
{
    return op->b_transposed ? op->k : op->n;
}

static size_t pad(int64_t numbers)
{
    return ((size_t)numbers * sizeof(float) + 255) / 256 * 256;
}

/* The product alone of a and b of `wide`, as fp32 in `output`; c gets it rounded, and the rest. */
static void multiply_aside(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                           const struct yk_matmul_op *wide, void *output)
{
    const struct yk_matmul_op alone = {
        .m = op->m,
        .n = op->n,
        .k = op->k,
        .scale = op->scale,
        .a = wide->a,
        .a_stride = wide->a_stride,
        .a_type = wide->a_type,
        .a_transposed = op->a_transposed,
        .b = wide->b,
        .b_stride = wide->b_stride,
        .b_type = wide->b_type,
        .b_transposed = op->b_transposed,
        .c = output,
        .c_stride = op->n,
        .c_type = YK_PRECISION_FP32,
        .epilogue = YK_EPILOGUE_NONE,
        .sums_of = YK_SUMS_OF_NONE,
    };
    multiply(lane, &alone);
    const bool added = op->accumulate || op->add == op->c;
    yk_cuda_elementwise_cast_matrix(lane, op->m, op->n, output, op->n, YK_PRECISION_FP32, op->c,
                                    op->c_stride, op->c_type, added);
    yk_gemm_epilogue(lane, op);
}

/* Operands of 16 bits become fp32, the product is fp32, and c gets it rounded. Behind what the
 * library works with, scratch memory holds a, b and the product, as far as they are needed. */
static void multiply_wide(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const bool half_a = is_half(op->a_type);
    const bool half_b = is_half(op->b_type);
    const bool aside = is_half(op->c_type);
    const size_t a_bytes = half_a ? pad(op->m * op->k) : 0;
    const size_t b_bytes = half_b ? pad(op->k * op->n) : 0;
    const size_t c_bytes = aside ? pad(op->m * op->n) : 0;
    char *scratch = yk_cuda_lane_scratch(lane, YK_CUBLAS_WORKSPACE_BYTES + YK_GEMM_SUMS_BYTES +
                                                   a_bytes + b_bytes + c_bytes);
    if (!scratch) {
        return;
    }
    struct yk_matmul_op wide = *op;
    char *at = scratch + YK_CUBLAS_WORKSPACE_BYTES + YK_GEMM_SUMS_BYTES;
    const bool coarse = half_a || half_b || aside || op->a_type == YK_PRECISION_TF32;
    const enum yk_precision type = coarse && lane->device->properties.capability >= TF32_CAPABILITY
                                       ? YK_PRECISION_TF32
                                       : YK_PRECISION_FP32;
    wide.a_type = type;
    wide.b_type = type;
    if (half_a) {
        yk_cuda_elementwise_cast_matrix(lane, rows_of_a(op), columns_of_a(op), op->a, op->a_stride,
                                        op->a_type, at, columns_of_a(op), YK_PRECISION_FP32, false);
        wide.a = at;
        wide.a_stride = columns_of_a(op);
    }
    if (half_b) {
        yk_cuda_elementwise_cast_matrix(lane, rows_of_b(op), columns_of_b(op), op->b, op->b_stride,
                                        op->b_type, at + a_bytes, columns_of_b(op),
                                        YK_PRECISION_FP32, false);
        wide.b = at + a_bytes;
        wide.b_stride = columns_of_b(op);
    }
    if (!aside) {
        multiply(lane, &wide);
        return;
    }
    multiply_aside(lane, op, &wide, at + a_bytes + b_bytes);
}

/* A sum of nothing. */
static void multiply_nothing(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const size_t width = (size_t)yk_precision_bytes(op->c_type);
    if (!op->accumulate && op->add != op->c) {
        (void)yk_cuda_lane_check(lane,
                                 cudaMemset2DAsync(op->c, (size_t)op->c_stride * width, 0,
                                                   (size_t)op->n * width, (size_t)op->m,
                                                   lane->stream),
                                 "matmul");
    }
    yk_gemm_epilogue(lane, op);
}

static void multiply_one(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    if (op->k == 0 || op->scale == 0) {
        multiply_nothing(lane, op);
    } else if (is_done_before(lane, op)) {
        yk_matmul_split_aligned(lane, op, multiply);
    } else {
        multiply_wide(lane, op);
    }
}

void yk_cuda_matmul(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    if (!yk_cuda_lane_is_ok(lane)) {
        return;
    }
    if (op->m == 0 || op->n == 0) {
        yk_gemm_sum(lane, op);
        return;
    }
    if (op->cuts[0] > 0 && lane->device->side_streams && op->k > 0) {
        yk_matmul_split_streams(lane, op, multiply_one);
    } else {
        multiply_one(lane, op);
    }
}
