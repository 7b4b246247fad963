/* Product tell: what came of every trial of an algorithm, a line each, at the end of the file that
 * YOKE_TELL_PRODUCTS names: to find out what a library does on a GPU, or a part of one. */
#ifndef YK_BACKEND_CUDA_MATMUL_BENCHMARK_LOG_H
#define YK_BACKEND_CUDA_MATMUL_BENCHMARK_LOG_H

#include "backend/cuda/matmul/shape.h"

#include <cublasLt.h>

/* `result` is "right", "wrong" … */
void yk_matmul_benchmark_log(const struct yk_matmul_shape *shape,
                             const cublasLtMatmulAlgo_t *algorithm, float milliseconds,
                             const char *result);

#endif
