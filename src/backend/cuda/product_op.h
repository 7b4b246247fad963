/*
 * Product op: one product of operands of one type, into that type or fp32, with all that comes with
 * it.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_OP_H
#define YK_BACKEND_CUDA_PRODUCT_OP_H

#include "backend/cuda/lane.h"
#include "backend/ops.h"

enum {
    YK_PRODUCT_SUMS = 1 << 20, /* bytes behind the library's workspace, for sums on their way */
};

void yk_product_multiply(struct yk_backend_lane *lane, const struct yk_matmul *op);

/* The op's sums alone, by kernels of ours. */
void yk_product_sum(struct yk_backend_lane *lane, const struct yk_matmul *op);

/* What is to be done once c has the product, and what was to be added to it in place. */
void yk_product_end(struct yk_backend_lane *lane, const struct yk_matmul *op);

#endif
