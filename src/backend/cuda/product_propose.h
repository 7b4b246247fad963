/*
 * Product propose: the algorithms that cuBLASLt has for a product, those that it expects to be
 * fastest first.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_PROPOSE_H
#define YK_BACKEND_CUDA_PRODUCT_PROPOSE_H

#include "backend/cuda/product_algorithm.h"

enum {
    YK_PRODUCT_PROPOSALS = 64,
};

/* How many there are. */
int yk_product_propose(const struct yk_product_means *means, const struct yk_product_shape *shape,
                       const struct yk_product_plan *plan,
                       cublasLtMatmulAlgo_t out[YK_PRODUCT_PROPOSALS]);

/* Those that are slow and know no clusters: where none of the others is right. */
int yk_product_propose_last(const struct yk_product_means *means,
                            const struct yk_product_shape *shape,
                            const struct yk_product_plan *plan,
                            cublasLtMatmulAlgo_t out[YK_PRODUCT_PROPOSALS]);

#endif
