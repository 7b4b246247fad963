/*
 * Products: matrix products by cuBLASLt, with what is known of each shape kept: descriptors, and
 * which algorithm is fastest.
 *
 * The first product of a shape is timed with several algorithms; the choice is kept in a file where
 * there is one, so that other processes, and a run that is resumed, make the same choice and the
 * same bits. Any thread may put products on lanes of its own.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_CUBLAS_H
#define YK_BACKEND_CUDA_MATMUL_CUBLAS_H

#include "backend/backend.h"

struct yk_cublas;

/* `path` may be NULL: nothing is kept beyond this process. */
yk_status yk_cublas_create(struct yk_backend_device *device, const char *path,
                           struct yk_cublas **out) YK_MUST_USE;
void yk_cublas_destroy(struct yk_cublas *cublas);

#endif
