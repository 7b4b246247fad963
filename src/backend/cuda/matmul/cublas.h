/*
 * cuBLAS: matrix products by cuBLASLt. Of each shape it keeps descriptors, and which algorithm is
 * fastest: the first product of a shape is timed with several. The choice is kept in a file where
 * there is one, so that other processes, and a resumed run, make the same choice and the same bits.
 * Any thread may enqueue products on lanes of its own.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CUBLAS_H
#define YK_BACKEND_CUDA_MATMUL_CUBLAS_H

#include "backend/backend.h"
#include "backend/cuda/matmul/algorithm.h"
#include "backend/cuda/matmul/cache.h"

struct yk_cublas;

/* `path` may be NULL: nothing is kept beyond this process. */
yk_status yk_cublas_create(struct yk_backend_device *device, const char *path,
                           struct yk_cublas **out) YK_MUST_USE;
void yk_cublas_destroy(struct yk_cublas *cublas);

/* Negative: there is no time. */
#define YK_CUBLAS_NONE_RUNS (-1.0F)
#define YK_CUBLAS_NONE_CORRECT (-2.0F)

/* Times the algorithms that the library proposes; the milliseconds of the best that is right. */
float yk_cublas_try(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                    const struct yk_cublas_call *call, struct yk_matmul_choice *out);

/* Called once for a shape that nothing is known of; false where nothing is right for it. */
typedef bool yk_cublas_chooser(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                               void *user, struct yk_matmul_choice *out);

/* False where the library cannot. What the variant leaves out is left to do. */
bool yk_cublas_run(struct yk_cublas *cublas, const struct yk_matmul_shape *shape,
                   const struct yk_cublas_call *call, yk_cublas_chooser *chooser, void *user,
                   enum yk_matmul_variant *out);

/* Of a call, what a shape in some variant asks for. */
struct yk_cublas_call yk_cublas_call_reduce(const struct yk_cublas_call *call,
                                            const struct yk_matmul_shape *reduced);

/* benchmark.c: which of the proposed algorithms is fastest and right, and the milliseconds that it
 * takes; negative where there is none. */
float yk_matmul_benchmark(const struct yk_matmul_context *context,
                          const struct yk_matmul_shape *shape,
                          const struct yk_matmul_layout *layout, const cublasLtMatmulAlgo_t *found,
                          int count, const struct yk_cublas_call *call,
                          struct yk_matmul_choice *out);

#endif
