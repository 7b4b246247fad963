/*
 * Autotune: which algorithm of the library a product uses, and how much of the op it does in one:
 * the fastest that is right.
 */
#ifndef YK_BACKEND_CUDA_MATMUL_AUTOTUNE_H
#define YK_BACKEND_CUDA_MATMUL_AUTOTUNE_H

#include "backend/cuda/matmul/gemm.h"

/* A yk_cublas_chooser, whose user is a job. */
bool yk_matmul_autotune(struct yk_cublas *cublas, const struct yk_matmul_shape *shape, void *user,
                        struct yk_matmul_choice *out);

#endif
