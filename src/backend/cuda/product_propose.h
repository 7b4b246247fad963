/*
 * Product propose: the algorithms that cuBLASLt has for a product, those that it expects to be
 * fastest first.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_PROPOSE_H
#define YK_BACKEND_CUDA_PRODUCT_PROPOSE_H

#include "backend/cuda/product_shape.h"
#include "backend/cuda/product_trust.h"

#include <cublasLt.h>

enum {
    YK_PRODUCT_PROPOSALS = 64,
};

struct yk_product_means {
    cublasLtHandle_t library;
    size_t workspace_bytes;
    /* Of the part of a GPU that this process has; 0: it has all of it. */
    int32_t part_processors;
    /* That a product is to take at most; 0: all. */
    int32_t target_processors;
    struct yk_product_trust *trust;
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

/* How many blocks work together in a cluster. */
int32_t yk_product_cluster(const cublasLtMatmulAlgo_t *algorithm);

/* Whether its blocks have as little to do with each other as all had that were ever seen to be
 * right: what may be taken untried, where it cannot be tried. */
bool yk_product_is_plain(const struct yk_product_means *means,
                         const cublasLtMatmulAlgo_t *algorithm);

/* Whether an algorithm can do the product, with the workspace there is. */
bool yk_product_fits(const struct yk_product_means *means, const struct yk_product_plan *plan,
                     const cublasLtMatmulAlgo_t *algorithm);

#endif
