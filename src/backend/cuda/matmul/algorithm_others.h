/*
 * Product others: algorithms of cuBLASLt that it does not propose, and that know no clusters.
 *
 * On some parts of a GPU nothing is right that it expects to be fast there. Its older algorithms
 * divide a product among blocks that have nothing to do with each other.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_ALGORITHM_OTHERS_H
#define YK_BACKEND_CUDA_MATMUL_ALGORITHM_OTHERS_H

#include "backend/cuda/matmul/algorithm.h"

/* At most `max`; how many there are. */
int yk_matmul_algorithm_others(const struct yk_matmul_algorithm_context *context,
                               const struct yk_matmul_shape *shape,
                               const struct yk_matmul_descriptors *descriptors, int max,
                               cublasLtMatmulAlgo_t *out);

#endif
