/* Benchmark: which of the proposed algorithms is fastest and right. */
#ifndef YK_BACKEND_CUDA_MATMUL_BENCHMARK_H
#define YK_BACKEND_CUDA_MATMUL_BENCHMARK_H

#include "backend/cuda/matmul/algorithm.h"
#include "backend/cuda/matmul/cublas.h"

/* The milliseconds that it takes; negative where there is none, as yk_cublas_try says. */
float yk_matmul_benchmark(const struct yk_matmul_context *context,
                          const struct yk_matmul_shape *shape,
                          const struct yk_matmul_layout *layout, const cublasLtMatmulAlgo_t *found,
                          int count, const struct yk_cublas_call *call,
                          struct yk_matmul_choice *out);

#endif
