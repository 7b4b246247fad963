/*
 * Product cache: which algorithm was found to be fastest for which shape, in memory and, where
 * there is a path, in a file of lines "shape in hexadecimal, algorithm in hexadecimal, whether the
 * rest is left to a kernel of ours".
 *
 * A file is of one kind of GPU and one version of the library: its first line says which, and one
 * that says otherwise is begun anew. Lines are written whole, so that processes may share it; what
 * cannot be read or written is as if it were not there. Not for several threads at once.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_CACHE_H
#define YK_BACKEND_CUDA_PRODUCT_CACHE_H

#include "backend/cuda/product_shape.h"
#include "base/status.h"

#include <stdbool.h>

struct yk_product_choice {
    cublasLtMatmulAlgo_t algorithm;
    int32_t variant; /* enum yk_product_variant */
    int32_t exists;  /* 0: no algorithm serves */
};

struct yk_product_cache;

/* `label` is the first line, without its end. */
yk_status yk_product_cache_open(const char *path, const char *label,
                                struct yk_product_cache **out) YK_MUST_USE;
void yk_product_cache_close(struct yk_product_cache *cache);

/* NULL: not known. */
const struct yk_product_choice *yk_product_cache_find(const struct yk_product_cache *cache,
                                                      const struct yk_product_shape *shape);
yk_status yk_product_cache_add(struct yk_product_cache *cache, const struct yk_product_shape *shape,
                               const struct yk_product_choice *choice) YK_MUST_USE;

#endif
