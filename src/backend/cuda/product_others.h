/*
 * Product others: algorithms of cuBLASLt that it does not propose, and that know no clusters.
 *
 * On some parts of a GPU nothing is right that it expects to be fast there. Its older algorithms
 * divide a product among blocks that have nothing to do with each other.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_OTHERS_H
#define YK_BACKEND_CUDA_PRODUCT_OTHERS_H

#include "backend/cuda/product_algorithm.h"

/* At most `most`; how many there are. */
int yk_product_others(const struct yk_product_means *means, const struct yk_product_shape *shape,
                      const struct yk_product_plan *plan, int most, cublasLtMatmulAlgo_t *out);

#endif
