/*
 * Matmul: cuBLASLt needs operands of one type and an output of that type or fp32. For other types,
 * the operands are converted to fp32 in scratch memory and multiplied as fp32, or as tf32 if any
 * type has 16 bits.
 */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/matmul/gemm.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    BF16_CAPABILITY = 80, /* first compute capability with bf16 matmuls */
    TF32_CAPABILITY = 80,
};

static bool is_half(enum yk_precision type)
{
    return yk_precision_bytes(type) == 2;
}

/* Whether cuBLASLt supports the types of the op. */
static bool is_supported(const struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const enum yk_precision type = yk_gemm_stored_type(op->a_type);
    const enum yk_precision c_type = yk_gemm_stored_type(op->c_type);
    return (type != YK_PRECISION_BF16 || lane->device->properties.capability >= BF16_CAPABILITY) &&
           type == yk_gemm_stored_type(op->b_type) &&
           (c_type == YK_PRECISION_FP32 || c_type == type);
}

static void multiply(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    char *workspace =
        yk_cuda_lane_get_scratch(lane, YK_CUBLAS_WORKSPACE_BYTES + YK_GEMM_ROW_SUM_SCRATCH_BYTES);
    if (!workspace) {
        return;
    }
    struct yk_gemm gemm = yk_gemm_make(lane, op, workspace);
    const struct yk_cublas_matmul_arguments arguments =
        yk_gemm_make_cublas_arguments(&gemm, workspace);
    if (!yk_cublas_enqueue_matmul(lane->device->cublas, &gemm.shape, &arguments, yk_matmul_autotune,
                                  &gemm, &gemm.variant)) {
        char message[YK_CUDA_ERROR_TEXT_SIZE];
        (void)snprintf(message, sizeof message,
                       "cuBLASLt has no way to take a product of %" PRId64 " x %" PRId64
                       " x %" PRId64 " in %s",
                       op->m, op->n, op->k, yk_precision_name(op->a_type));
        yk_cuda_lane_store_failure(lane, message);
        return;
    }
    yk_gemm_enqueue_unfused_parts(&gemm);
}

/* Bytes of fp32 elements, rounded up to the alignment of scratch memory. */
static size_t pad(int64_t elements)
{
    return ((size_t)elements * sizeof(float) + 255) / 256 * 256;
}

/* Converts a (rows, columns) operand to fp32 at `to`, if it has 16 bits. */
static void widen(struct yk_backend_lane *lane, int64_t rows, int64_t columns,
                  enum yk_precision type, void *to, const void **operand, int64_t *stride)
{
    if (is_half(type)) {
        yk_cuda_elementwise_cast_matrix(lane, rows, columns, *operand, *stride, type, to, columns,
                                        YK_PRECISION_FP32, false);
        *operand = to;
        *stride = columns;
    }
}

/* Multiplies the operands of `wide` into `output` as fp32, converts the product to c, and then
 * applies bias, add, epilogue and row sums. */
static void multiply_aside(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                           const struct yk_matmul_op *wide, void *output)
{
    struct yk_matmul_op product = *wide;
    product.c = output;
    product.c_stride = op->n;
    product.c_type = YK_PRECISION_FP32;
    product.accumulate = false;
    product.bias = NULL;
    product.add = NULL;
    product.aux = NULL;
    product.epilogue = YK_EPILOGUE_NONE;
    product.sums_of = YK_MATMUL_ROW_SUM_NONE;
    multiply(lane, &product);
    const bool added = op->accumulate || op->add == op->c;
    yk_cuda_elementwise_cast_matrix(lane, op->m, op->n, output, op->n, YK_PRECISION_FP32, op->c,
                                    op->c_stride, op->c_type, added);
    yk_gemm_enqueue_epilogue(lane, op);
}

/* Converts 16-bit operands to fp32. Scratch memory holds the workspace of multiply(), then a, b and
 * the product where they need a conversion. */
static void multiply_wide(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const bool half_a = is_half(op->a_type);
    const bool half_b = is_half(op->b_type);
    const bool aside = is_half(op->c_type);
    const size_t a_bytes = half_a ? pad(op->m * op->k) : 0;
    const size_t b_bytes = half_b ? pad(op->k * op->n) : 0;
    const size_t c_bytes = aside ? pad(op->m * op->n) : 0;
    char *scratch =
        yk_cuda_lane_get_scratch(lane, YK_CUBLAS_WORKSPACE_BYTES + YK_GEMM_ROW_SUM_SCRATCH_BYTES +
                                           a_bytes + b_bytes + c_bytes);
    if (!scratch) {
        return;
    }
    struct yk_matmul_op wide = *op;
    char *at = scratch + YK_CUBLAS_WORKSPACE_BYTES + YK_GEMM_ROW_SUM_SCRATCH_BYTES;
    const bool coarse = half_a || half_b || aside || op->a_type == YK_PRECISION_TF32;
    const enum yk_precision type = coarse && lane->device->properties.capability >= TF32_CAPABILITY
                                       ? YK_PRECISION_TF32
                                       : YK_PRECISION_FP32;
    wide.a_type = type;
    wide.b_type = type;
    widen(lane, op->a_transposed ? op->k : op->m, op->a_transposed ? op->m : op->k, op->a_type, at,
          &wide.a, &wide.a_stride);
    widen(lane, op->b_transposed ? op->n : op->k, op->b_transposed ? op->k : op->n, op->b_type,
          at + a_bytes, &wide.b, &wide.b_stride);
    if (!aside) {
        multiply(lane, &wide);
        return;
    }
    multiply_aside(lane, op, &wide, at + a_bytes + b_bytes);
}

/* The product is zero: k or scale is 0. */
static void multiply_nothing(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    const size_t width = (size_t)yk_precision_bytes(op->c_type);
    if (!op->accumulate && op->add != op->c) {
        (void)yk_cuda_lane_check_cuda_error(lane,
                                            cudaMemset2DAsync(op->c, (size_t)op->c_stride * width,
                                                              0, (size_t)op->n * width,
                                                              (size_t)op->m, lane->stream),
                                            "matmul");
    }
    yk_gemm_enqueue_epilogue(lane, op);
}

static void multiply_one(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    if (op->k == 0 || op->scale == 0) {
        multiply_nothing(lane, op);
        return;
    }
    if (yk_cuda_narrow_matmul_try(lane, op)) {
        return;
    }
    if (is_supported(lane, op)) {
        yk_matmul_split_for_alignment(lane, op, multiply);
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
        yk_gemm_enqueue_row_sum(lane, op);
        return;
    }
    if (op->split_columns[0] > 0 && lane->device->side_streams && op->k > 0) {
        yk_matmul_split_over_streams(lane, op, multiply_one);
    } else {
        multiply_one(lane, op);
    }
}
