#include "backend/cuda/matmul/gemm.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#include <string.h>

enum {
    WIDE_ALIGNMENT = 16,
    AUX_ALIGNMENT = 8, /* elements; cuBLASLt needs it for the stride of aux */
};

/* ---- the shape ---- */

static int32_t alignment_of(const struct yk_matmul_op *op)
{
    const uintptr_t all =
        (uintptr_t)op->a | (uintptr_t)op->b | (uintptr_t)op->c | (uintptr_t)op->add |
        (uintptr_t)op->aux | (uintptr_t)(op->a_stride * yk_precision_bytes(op->a_type)) |
        (uintptr_t)(op->b_stride * yk_precision_bytes(op->b_type)) |
        (uintptr_t)(op->c_stride * yk_precision_bytes(op->c_type)) |
        (uintptr_t)(op->add ? op->add_stride * yk_precision_bytes(op->c_type) : 0);
    int32_t alignment = WIDE_ALIGNMENT;
    while (all % (uintptr_t)alignment != 0) {
        alignment /= 2;
    }
    return alignment;
}

static bool is_aux_aligned(const struct yk_matmul_op *op)
{
    return op->aux_stride % AUX_ALIGNMENT == 0 && (uintptr_t)op->aux % WIDE_ALIGNMENT == 0;
}

/* The epilogue that cuBLASLt can fuse. */
static enum yk_cublas_epilogue work_of(const struct yk_matmul_op *op)
{
    const bool bias_fits =
        !op->bias || yk_gemm_stored_type(op->bias_type) == yk_gemm_stored_type(op->c_type);
    if (!bias_fits) {
        return YK_CUBLAS_EPILOGUE_NONE;
    }
    switch (op->epilogue) {
    case YK_EPILOGUE_NONE:
        return op->bias ? YK_CUBLAS_EPILOGUE_BIAS : YK_CUBLAS_EPILOGUE_NONE;
    case YK_EPILOGUE_GELU:
        return !op->aux || is_aux_aligned(op) ? YK_CUBLAS_EPILOGUE_GELU : YK_CUBLAS_EPILOGUE_NONE;
    case YK_EPILOGUE_RELU:
        return YK_CUBLAS_EPILOGUE_RELU;
    case YK_EPILOGUE_GELU_BACKWARD:
        return !op->bias && is_aux_aligned(op) ? YK_CUBLAS_EPILOGUE_GELU_BACKWARD
                                               : YK_CUBLAS_EPILOGUE_NONE;
    default:
        return YK_CUBLAS_EPILOGUE_NONE;
    }
}

/* The row sums that cuBLASLt can compute with the product. */
static enum yk_matmul_row_sum_source sums_of(const struct yk_matmul_op *op,
                                             enum yk_cublas_epilogue work)
{
    const bool fits = yk_gemm_stored_type(op->sums_type) == yk_gemm_stored_type(op->c_type);
    const bool bare = op->accumulate || (!op->bias && op->epilogue == YK_EPILOGUE_NONE);
    switch (op->sums_of) {
    case YK_MATMUL_ROW_SUM_A:
    case YK_MATMUL_ROW_SUM_B:
        return fits && bare ? op->sums_of : YK_MATMUL_ROW_SUM_NONE;
    case YK_MATMUL_ROW_SUM_C:
        return fits && work == YK_CUBLAS_EPILOGUE_GELU_BACKWARD ? op->sums_of
                                                                : YK_MATMUL_ROW_SUM_NONE;
    default:
        return YK_MATMUL_ROW_SUM_NONE;
    }
}

static struct yk_matmul_shape shape_of(const struct yk_matmul_op *op, enum yk_cublas_epilogue work)
{
    struct yk_matmul_shape shape;
    memset(&shape, 0, sizeof shape); /* shapes are compared with memcmp() */
    shape.m = op->m;
    shape.n = op->n;
    shape.k = op->k;
    shape.a_stride = op->a_stride;
    shape.b_stride = op->b_stride;
    shape.c_stride = op->c_stride;
    shape.a_type = (int32_t)op->a_type;
    shape.c_type = (int32_t)op->c_type;
    shape.a_transposed = op->a_transposed;
    shape.b_transposed = op->b_transposed;
    shape.alignment = alignment_of(op);
    shape.work = (int32_t)work;
    shape.has_bias = op->bias && work != YK_CUBLAS_EPILOGUE_NONE;
    if (work == YK_CUBLAS_EPILOGUE_GELU || work == YK_CUBLAS_EPILOGUE_GELU_BACKWARD) {
        shape.aux_stride = op->aux ? op->aux_stride : 0;
    }
    shape.sums_of = (int32_t)sums_of(op, work);
    shape.in_place = op->accumulate || (op->add && op->add == op->c);
    if (shape.in_place) {
        shape.add_stride = op->c_stride;
    } else if (op->add && (work != YK_CUBLAS_EPILOGUE_NONE ||
                           (!op->bias && op->epilogue == YK_EPILOGUE_NONE))) {
        shape.add_stride = op->add_stride;
    }
    return shape;
}

static int64_t sums_count(const struct yk_matmul_op *op)
{
    return op->sums_of == YK_MATMUL_ROW_SUM_A ? op->m : op->n;
}

struct yk_gemm yk_gemm_make(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                            void *workspace)
{
    struct yk_gemm gemm = {
        .lane = lane, .op = *op, .made_sums = (char *)workspace + YK_CUBLAS_WORKSPACE_BYTES};
    const enum yk_cublas_epilogue work = op->accumulate ? YK_CUBLAS_EPILOGUE_NONE : work_of(op);
    gemm.shape = shape_of(op, work);
    if (gemm.op.sums_of != YK_MATMUL_ROW_SUM_NONE &&
        sums_count(op) * (int64_t)sizeof(float) > YK_GEMM_ROW_SUM_SCRATCH_BYTES / 2) {
        gemm.shape.sums_of = YK_MATMUL_ROW_SUM_NONE;
    }
    return gemm;
}

struct yk_cublas_matmul_arguments yk_gemm_make_cublas_arguments(const struct yk_gemm *gemm,
                                                                void *workspace)
{
    const struct yk_matmul_op *op = &gemm->op;
    return (struct yk_cublas_matmul_arguments){
        .stream = gemm->lane->stream,
        .a = op->a,
        .b = op->b,
        .add = gemm->shape.in_place ? op->c : op->add,
        .c = op->c,
        .bias = op->bias,
        .aux = op->aux,
        .sums = (char *)workspace + YK_CUBLAS_WORKSPACE_BYTES,
        .scale = op->scale,
        .workspace = workspace,
    };
}

/* ---- the parts that are not fused ---- */

void yk_gemm_enqueue_row_sum(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    if (op->sums_of == YK_MATMUL_ROW_SUM_NONE) {
        return;
    }
    const struct yk_sum_rows_op sums = yk_ops_make_sum_rows_op_of_matmul(op);
    yk_cuda_sum_rows(lane, &sums);
}

/* Applies bias, add (if not in place) and epilogue to the product in c. */
static void enqueue_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    struct yk_matmul_op rest = *op;
    if (op->add == op->c) {
        rest.add = NULL;
    }
    if (!rest.accumulate && (rest.bias || rest.add || rest.epilogue != YK_EPILOGUE_NONE)) {
        yk_cuda_matmul_apply_epilogue(lane, &rest);
    }
}

void yk_gemm_enqueue_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    enqueue_epilogue(lane, op);
    yk_gemm_enqueue_row_sum(lane, op);
}

void yk_gemm_enqueue_unfused_parts(const struct yk_gemm *gemm)
{
    struct yk_matmul_shape done = gemm->shape;
    struct yk_matmul_op left = gemm->op;
    yk_matmul_shape_remove_unfused_parts(&done, gemm->variant);
    if (done.work != YK_CUBLAS_EPILOGUE_NONE) {
        left.epilogue = YK_EPILOGUE_NONE;
        left.bias = NULL;
    }
    if (done.add_stride > 0) {
        left.add = NULL;
    }
    enqueue_epilogue(gemm->lane, &left);
    if (done.sums_of != YK_MATMUL_ROW_SUM_NONE) {
        yk_cuda_elementwise_add(gemm->lane, &(struct yk_add_op){
                                                .count = sums_count(&left),
                                                .from = gemm->made_sums,
                                                .to = left.row_sums,
                                                .type = left.c_type,
                                            });
    } else {
        yk_gemm_enqueue_row_sum(gemm->lane, &left);
    }
}
