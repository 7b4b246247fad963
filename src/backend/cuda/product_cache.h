/*
 * Product cache: which algorithm was found to be fastest for which shape, in memory and, where
 * there is a path, in a file of lines: origin, shape and choice, in hexadecimal.
 *
 * An origin is a kind of GPU, how many of its multiprocessors there are for this process, and a
 * version of the library: choices of one say nothing about another, and of all that the file holds
 * only those of the own one are taken. Lines are written whole, so that processes and GPUs may
 * share it; what cannot be read or written is as if it were not there. Not for several threads at
 * once.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_CACHE_H
#define YK_BACKEND_CUDA_PRODUCT_CACHE_H

#include "backend/cuda/product_shape.h"
#include "base/status.h"

#include <stdbool.h>

struct yk_product_choice {
    cublasLtMatmulAlgo_t algorithm;
    int32_t variant; /* enum yk_product_variant */
    int32_t exists;  /* 0: none was found, or there was no memory to try any in */
};

struct yk_product_cache;

/* `origin` in any words that tell one from another. */
yk_status yk_product_cache_open(const char *path, const char *origin,
                                struct yk_product_cache **out) YK_MUST_USE;
void yk_product_cache_close(struct yk_product_cache *cache);

/* NULL: not known. */
const struct yk_product_choice *yk_product_cache_find(const struct yk_product_cache *cache,
                                                      const struct yk_product_shape *shape);
/* One that does not exist is kept from the file: whoever comes next may find one. */
yk_status yk_product_cache_add(struct yk_product_cache *cache, const struct yk_product_shape *shape,
                               const struct yk_product_choice *choice) YK_MUST_USE;

#endif
