/*
 * cuBLAS: runs matmuls with cuBLASLt. For each shape, this module keeps the descriptors and the
 * fastest algorithm.
 *
 * The first matmul of a shape benchmarks several algorithms. If yk_cublas_create() gets the path of
 * a file, the fastest algorithm is stored in this file, so that other processes and resumed runs
 * use the same algorithms and compute the same bits. Any thread may enqueue matmuls on a lane
 * that no other thread uses; a lock protects the state that all lanes share.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CUBLAS_H
#define YK_BACKEND_CUDA_MATMUL_CUBLAS_H

#include "backend/backend.h"
#include "backend/cuda/matmul/matmul_algorithm.h"
#include "backend/cuda/matmul/matmul_cache.h"

struct yk_cublas;

/* `path` is the file of the matmul cache; NULL means: no file. */
yk_status yk_cublas_create(struct yk_backend_device *device, const char *path,
                           struct yk_cublas **out) YK_MUST_USE;
void yk_cublas_destroy(struct yk_cublas *cublas);

/* A benchmark returns one of these values instead of a time if it found no usable algorithm: no
 * algorithm ran, or every algorithm that ran computed wrong results. */
#define YK_CUBLAS_NO_ALGORITHM_RUNS (-1.0F)
#define YK_CUBLAS_NO_ALGORITHM_CORRECT (-2.0F)

/* Benchmarks the algorithms that cuBLASLt proposes for the shape. Returns the milliseconds of the
 * fastest correct algorithm, or one of the constants above. */
float yk_cublas_find_fastest_algorithm(struct yk_cublas *cublas,
                                       const struct yk_matmul_shape *shape,
                                       const struct yk_cublas_matmul_arguments *arguments,
                                       struct yk_matmul_algorithm_choice *out);

/* A callback that chooses an algorithm for a shape that is not in the cache. Returns false if every
 * algorithm computes wrong results. */
typedef bool yk_cublas_autotune_callback(struct yk_cublas *cublas,
                                         const struct yk_matmul_shape *shape, void *user,
                                         struct yk_matmul_algorithm_choice *out);

/* Enqueues the matmul. `out` receives the fusion variant that was used; the caller must enqueue the
 * parts of the op that this variant does not fuse. Returns false if cuBLASLt cannot run the
 * matmul. */
bool yk_cublas_enqueue_matmul(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                              const struct yk_cublas_matmul_arguments *arguments,
                              yk_cublas_autotune_callback *chooser, void *user,
                              enum yk_matmul_fusion *out);

/* Returns a copy of `arguments` without the pointers that the shape `reduced` does not use.
 * `reduced` comes from yk_matmul_shape_remove_unfused_parts(). */
struct yk_cublas_matmul_arguments
yk_cublas_arguments_used_by_shape(const struct yk_cublas_matmul_arguments *arguments,
                                  const struct yk_matmul_shape *reduced);

/* benchmark.c: measures the times of the `count` algorithms in `found`. Returns the milliseconds of
 * the fastest correct algorithm, or YK_CUBLAS_NO_ALGORITHM_RUNS, or
 * YK_CUBLAS_NO_ALGORITHM_CORRECT. */
float yk_matmul_benchmark_algorithms(const struct yk_cublas_context *context,
                                     const struct yk_matmul_descriptors *descriptors,
                                     const cublasLtMatmulAlgo_t *found, int count,
                                     const struct yk_cublas_matmul_arguments *arguments,
                                     struct yk_matmul_algorithm_choice *out);

#endif
