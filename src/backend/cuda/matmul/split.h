/*
 * Split: a product cut into smaller ones. The library's fast kernels want every dimension along
 * memory to be a multiple of 16 bytes. A vocabulary of 50,257 is not: then all but the last few
 * columns, rows or terms are one product, and those another.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_SPLIT_H
#define YK_BACKEND_CUDA_MATMUL_SPLIT_H

#include "backend/cuda/lane.h"
#include "backend/ops.h"

typedef void yk_matmul_split_function(struct yk_backend_lane *lane, const struct yk_matmul_op *op);

/* Columns of c from `first` up to `end`. */
struct yk_matmul_op yk_matmul_split_columns(const struct yk_matmul_op *op, int64_t first,
                                            int64_t end);

/* Calls `multiply` for parts that add up to the op, or once for the op itself. */
void yk_matmul_split_aligned(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                             yk_matmul_split_function *multiply);

/* The parts between the op's cuts, each on a stream of its own. */
void yk_matmul_split_streams(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                             yk_matmul_split_function *multiply);

#endif
