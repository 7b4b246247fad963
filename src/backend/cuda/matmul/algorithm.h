/*
 * Product algorithm: what cuBLASLt tells of one of its algorithms for a product, and what there is
 * to run it with.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_ALGORITHM_H
#define YK_BACKEND_CUDA_MATMUL_ALGORITHM_H

#include "backend/cuda/matmul/cluster_trust.h"
#include "backend/cuda/matmul/shape.h"

#include <cublasLt.h>

enum {
    YK_MATMUL_CLUSTER_PAIR = 2, /* clusters of so many blocks always lie within a pair of SMs */
};

struct yk_matmul_algorithm_context {
    cublasLtHandle_t library;
    size_t workspace_bytes;
    /* Of the part of a GPU that this process has; 0: it has all of it. */
    int32_t part_processors;
    /* That a product is to take at most; 0: all. */
    int32_t target_processors;
    struct yk_cluster_trust *trust;
};

/* How many blocks work together in a cluster. */
int32_t yk_matmul_algorithm_cluster(const cublasLtMatmulAlgo_t *algorithm);

/* Whether its blocks have as little to do with each other as all had that were ever seen to be
 * right: what may be taken untried, where it cannot be tried. */
bool yk_matmul_algorithm_is_plain(const struct yk_matmul_algorithm_context *context,
                                  const cublasLtMatmulAlgo_t *algorithm);

/* Whether an algorithm can do the product, with the workspace there is. */
bool yk_matmul_algorithm_fits(const struct yk_matmul_algorithm_context *context,
                              const struct yk_matmul_descriptors *descriptors,
                              const cublasLtMatmulAlgo_t *algorithm);

#endif
