/*
 * GEMM: one matmul whose operands have the same type and whose output has the same type or fp32.
 * This module decides which parts of the op cuBLASLt fuses with the product, and enqueues kernels
 * for the other parts.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_GEMM_H
#define YK_BACKEND_CUDA_MATMUL_GEMM_H

#include "backend/cuda/lane.h"
#include "backend/cuda/matmul/cublas.h"
#include "backend/ops.h"

enum {
    YK_GEMM_ROW_SUM_SCRATCH_BYTES = 1 << 20, /* for row sums; follows the workspace of cuBLASLt */
};

struct yk_gemm {
    struct yk_backend_lane *lane;
    struct yk_matmul_op op;
    struct yk_matmul_shape shape;
    enum yk_matmul_fusion variant;
    const void *made_sums; /* scratch memory where cuBLASLt writes row sums */
};

/* Returns the type in which elements are stored. tf32 is stored as fp32. */
static inline enum yk_precision yk_gemm_stored_type(enum yk_precision type)
{
    return type == YK_PRECISION_TF32 ? YK_PRECISION_FP32 : type;
}

/* Fills the struct, except `variant`. `workspace` has YK_CUBLAS_WORKSPACE_BYTES +
 * YK_GEMM_ROW_SUM_SCRATCH_BYTES bytes. */
struct yk_gemm yk_gemm_make(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                            void *workspace);

/* `workspace` must be the pointer that was passed to yk_gemm_make(). */
struct yk_cublas_matmul_arguments yk_gemm_make_cublas_arguments(const struct yk_gemm *gemm,
                                                                void *workspace);

/* Enqueues the parts of the op that gemm->variant does not fuse. */
void yk_gemm_enqueue_unfused_parts(const struct yk_gemm *gemm);

/* Enqueues only the row sums of the op. */
void yk_gemm_enqueue_row_sum(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* Enqueues bias, add, epilogue and row sums. c must already hold the product or, if op->add
 * is c itself, the product plus the old value of c. */
void yk_gemm_enqueue_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* autotune.c: a yk_cublas_autotune_callback. `user` is a struct yk_gemm. Chooses the fastest
 * correct algorithm and the fusion variant. */
bool yk_matmul_autotune(struct yk_cublas *cublas, const struct yk_matmul_shape *shape, void *user,
                        struct yk_matmul_algorithm_choice *out);

/* ---- matmul_split.c: splits a matmul into several smaller matmuls ---- */

typedef void yk_matmul_split_callback(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* Calls `multiply` once for the whole op, or once for each of several parts that together compute
 * the op. The fast kernels of cuBLASLt need dimensions that are multiples of 16 bytes. If a
 * dimension is not (for example a vocabulary of 50,257), one part has the largest possible
 * multiple, and another part has the remaining columns, rows or terms. */
void yk_matmul_split_for_alignment(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                                   yk_matmul_split_callback *multiply);

/* Splits the op at the columns op->split_columns and calls `multiply` for each part. The first part
 * runs on `lane`; each other part runs on a side stream of the lane. */
void yk_matmul_split_over_streams(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                                  yk_matmul_split_callback *multiply);

#endif
