/*
 * cuBLAS: matmuls by cuBLASLt. For each shape it keeps the descriptors and the fastest algorithm.
 *
 * The first matmul of a shape benchmarks several algorithms. The choice is stored in a file if one
 * is given, so that other processes and resumed runs use the same algorithms and compute the same
 * bits. Any thread may enqueue matmuls on its own lanes; a lock protects the shared state.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CUBLAS_H
#define YK_BACKEND_CUDA_MATMUL_CUBLAS_H

#include "backend/backend.h"
#include "backend/cuda/matmul/algorithm.h"
#include "backend/cuda/matmul/cache.h"

struct yk_cublas;

/* `path` is the file of the matmul cache; NULL means: no file. */
yk_status yk_cublas_create(struct yk_backend_device *device, const char *path,
                           struct yk_cublas **out) YK_MUST_USE;
void yk_cublas_destroy(struct yk_cublas *cublas);

/* Results of a benchmark that found no algorithm, in place of milliseconds. */
#define YK_CUBLAS_NONE_RUNS (-1.0F)
#define YK_CUBLAS_NONE_CORRECT (-2.0F)

/* Benchmarks the algorithms that cuBLASLt proposes for the shape. Returns the milliseconds of the
 * fastest correct one, or one of the constants above. */
float yk_cublas_try(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                    const struct yk_cublas_call *call, struct yk_matmul_choice *out);

/* Chooses an algorithm for a shape that is not in the cache. Returns false if every algorithm
 * computes wrong results. */
typedef bool yk_cublas_chooser(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                               void *user, struct yk_matmul_choice *out);

/* Enqueues the matmul. `out` receives the fusion variant that was used; the caller must enqueue the
 * parts of the op that this variant leaves out. Returns false if cuBLASLt cannot run the matmul. */
bool yk_cublas_run(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                   const struct yk_cublas_call *call, yk_cublas_chooser *chooser, void *user,
                   enum yk_matmul_variant *out);

/* A copy of the call without the pointers that the reduced shape does not use. */
struct yk_cublas_call yk_cublas_call_reduce(const struct yk_cublas_call *call,
                                            const struct yk_matmul_shape *reduced);

/* benchmark.c: times the `count` algorithms of `found`. Returns the milliseconds of the fastest
 * correct one, or YK_CUBLAS_NONE_RUNS or YK_CUBLAS_NONE_CORRECT. */
float yk_matmul_benchmark(const struct yk_matmul_context *context,
                          const struct yk_matmul_shape *shape,
                          const struct yk_matmul_layout *layout, const cublasLtMatmulAlgo_t *found,
                          int count, const struct yk_cublas_call *call,
                          struct yk_matmul_choice *out);

#endif
