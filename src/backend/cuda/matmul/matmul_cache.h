/*
 * Matmul cache: the fastest algorithm for each matmul shape, in memory and optionally in a file.
 *
 * Each line of the file holds an origin, a shape and the choice of an algorithm, in hexadecimal.
 * The origin identifies the GPU model, the number of SMs and the version of cuBLASLt. A cache uses
 * only lines of its own origin. Each line is appended with one write, so several processes may
 * share the file. Errors in the file are ignored. Only one thread at a time may use a cache.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_MATMUL_CACHE_H
#define YK_BACKEND_CUDA_MATMUL_MATMUL_CACHE_H

#include "backend/cuda/matmul/matmul_shape.h"
#include "base/status.h"

#include <stdbool.h>

struct yk_matmul_algorithm_choice {
    cublasLtMatmulAlgo_t algorithm;
    int32_t variant; /* enum yk_matmul_fusion */
    int32_t exists;  /* 0 means: no algorithm was found, or there was no memory for a benchmark */
};

struct yk_matmul_cache;

/* `path` is the path of the file; NULL means: no file. `origin` is the origin as a text. The file
 * contains only a hash of this text. */
yk_status yk_matmul_cache_open(const char *path, const char *origin,
                               struct yk_matmul_cache **out) YK_MUST_USE;
void yk_matmul_cache_close(struct yk_matmul_cache *cache);

/* Returns NULL for an unknown shape. */
const struct yk_matmul_algorithm_choice *yk_matmul_cache_find(const struct yk_matmul_cache *cache,
                                                              const struct yk_matmul_shape *shape);

/* Adds the choice for a shape. A choice whose `exists` is 0 is not written to the file, so that the
 * next process searches again. */
yk_status yk_matmul_cache_add(struct yk_matmul_cache *cache, const struct yk_matmul_shape *shape,
                              const struct yk_matmul_algorithm_choice *choice) YK_MUST_USE;

/* Appends a line to a file with one write, so that several processes may append at the same time.
 * Ignores errors. */
void yk_matmul_cache_append_line_to_file(const char *path, const char *line, size_t length);

#endif
