/* Product race: which of the algorithms that are proposed for a product is fastest and right. */
#ifndef YK_BACKEND_CUDA_PRODUCT_RACE_H
#define YK_BACKEND_CUDA_PRODUCT_RACE_H

#include "backend/cuda/product_propose.h"
#include "backend/cuda/product_run.h"

/* The milliseconds that it takes; negative where there is none, as yk_product_try says. */
float yk_product_race(const struct yk_product_means *means, const struct yk_product_shape *shape,
                      const struct yk_product_plan *plan, const cublasLtMatmulAlgo_t *found,
                      int count, const struct yk_product_call *call, struct yk_product_choice *out);

#endif
