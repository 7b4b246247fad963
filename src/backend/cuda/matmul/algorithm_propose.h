/*
 * Product propose: the algorithms that cuBLASLt has for a product, those that it expects to be
 * fastest first.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_ALGORITHM_PROPOSE_H
#define YK_BACKEND_CUDA_MATMUL_ALGORITHM_PROPOSE_H

#include "backend/cuda/matmul/algorithm.h"

enum {
    YK_MATMUL_ALGORITHMS_MAX = 64,
};

/* How many there are. */
int yk_matmul_algorithm_propose(const struct yk_matmul_algorithm_context *context,
                                const struct yk_matmul_shape *shape,
                                const struct yk_matmul_descriptors *descriptors,
                                cublasLtMatmulAlgo_t out[YK_MATMUL_ALGORITHMS_MAX]);

/* Those that are slow and know no clusters: where none of the others is right. */
int yk_matmul_algorithm_propose_last(const struct yk_matmul_algorithm_context *context,
                                     const struct yk_matmul_shape *shape,
                                     const struct yk_matmul_descriptors *descriptors,
                                     cublasLtMatmulAlgo_t out[YK_MATMUL_ALGORITHMS_MAX]);

#endif
