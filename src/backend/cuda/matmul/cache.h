/*
 * Matmul cache: which algorithm was fastest for which shape, in memory and, where there is a path,
 * in a file of lines: origin, shape and choice, in hexadecimal. An origin is a kind of GPU, how
 * many SMs this process has, and a version of the library; only choices of the own origin are used.
 * Lines are written whole, so that processes and GPUs may share the file; what cannot be read or
 * written is ignored. One thread at a time.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CACHE_H
#define YK_BACKEND_CUDA_MATMUL_CACHE_H

#include "backend/cuda/matmul/shape.h"
#include "base/status.h"

#include <stdbool.h>

struct yk_matmul_choice {
    cublasLtMatmulAlgo_t algorithm;
    int32_t variant; /* enum yk_matmul_variant */
    int32_t exists;  /* 0: none was found, or there was no memory to try any in */
};

struct yk_matmul_cache;

/* `origin`: any text that differs between origins. */
yk_status yk_matmul_cache_open(const char *path, const char *origin,
                               struct yk_matmul_cache **out) YK_MUST_USE;
void yk_matmul_cache_close(struct yk_matmul_cache *cache);

/* NULL: not known. */
const struct yk_matmul_choice *yk_matmul_cache_find(const struct yk_matmul_cache *cache,
                                                    const struct yk_matmul_shape *shape);
/* One that does not exist is kept from the file: whoever comes next may find one. */
yk_status yk_matmul_cache_add(struct yk_matmul_cache *cache, const struct yk_matmul_shape *shape,
                              const struct yk_matmul_choice *choice) YK_MUST_USE;

#endif
