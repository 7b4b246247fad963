/*
 * GEMM: one product of operands of one type, into that type or fp32: what the library does of an op
 * in one, and what is left to kernels.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_GEMM_H
#define YK_BACKEND_CUDA_MATMUL_GEMM_H

#include "backend/cuda/lane.h"
#include "backend/cuda/matmul/cublas.h"
#include "backend/ops.h"

enum {
    YK_GEMM_SUMS_BYTES = 1 << 20, /* bytes behind the library's workspace, for sums on their way */
};

struct yk_gemm {
    struct yk_backend_lane *lane;
    struct yk_matmul_op op;
    struct yk_matmul_shape shape;
    enum yk_matmul_variant variant;
    const void *made_sums; /* by the library */
};

/* `workspace` holds YK_CUBLAS_WORKSPACE_BYTES and YK_GEMM_SUMS_BYTES bytes. */
struct yk_gemm yk_gemm_make(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                            void *workspace);

/* The product as the library sees it. */
struct yk_cublas_call yk_gemm_call(const struct yk_gemm *gemm, void *workspace, void *sums);

/* What the library did not do in its variant. */
void yk_gemm_finish(const struct yk_gemm *gemm);

/* An op's sums alone, by own kernels. */
void yk_gemm_sum(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* What is to be done once c has the product, and what was to be added to it in place. */
void yk_gemm_epilogue(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* autotune.c: a yk_cublas_chooser, whose user is a struct yk_gemm: the fastest algorithm that is
 * right, and how much of the op it does in one. */
bool yk_matmul_autotune(struct yk_cublas *cublas, const struct yk_matmul_shape *shape, void *user,
                        struct yk_matmul_choice *out);

#endif
