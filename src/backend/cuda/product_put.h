/* Product put: one product put on a stream by one algorithm. */
#ifndef YK_BACKEND_CUDA_PRODUCT_PUT_H
#define YK_BACKEND_CUDA_PRODUCT_PUT_H

#include "backend/cuda/product_algorithm.h"
#include "backend/cuda/product_run.h"

/* Tells the plan where the call's vectors are, before it is put. */
cublasStatus_t yk_product_point(const struct yk_product_plan *plan,
                                const struct yk_product_call *call);

cublasStatus_t yk_product_put(const struct yk_product_means *means,
                              const struct yk_product_plan *plan,
                              const cublasLtMatmulAlgo_t *algorithm,
                              const struct yk_product_call *call);

#endif
