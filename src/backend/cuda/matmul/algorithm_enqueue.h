/* Product put: one product put on a stream by one algorithm. */
#ifndef YK_BACKEND_CUDA_MATMUL_ALGORITHM_ENQUEUE_H
#define YK_BACKEND_CUDA_MATMUL_ALGORITHM_ENQUEUE_H

#include "backend/cuda/matmul/algorithm.h"
#include "backend/cuda/matmul/cublas_call.h"

/* Tells the plan where the call's vectors are, before it is put. */
cublasStatus_t yk_matmul_algorithm_set_pointers(const struct yk_matmul_descriptors *descriptors,
                                                const struct yk_cublas_call *call);

cublasStatus_t yk_matmul_algorithm_enqueue(const struct yk_matmul_algorithm_context *context,
                                           const struct yk_matmul_descriptors *descriptors,
                                           const cublasLtMatmulAlgo_t *algorithm,
                                           const struct yk_cublas_call *call);

#endif
