/* BLAS: the memory that the library for products of matrices works in. */
#ifndef YK_BACKEND_CPU_BLAS_H
#define YK_BACKEND_CPU_BLAS_H

#include "base/status.h"

/* Tells the library to use no threads of its own, lets it allocate what `threads` threads need at
 * once, and fails where the process may not have so much: asked for within a product, the library
 * would try again for ever. Any thread. */
yk_status yk_cpu_blas_reserve(int threads) YK_MUST_USE;

#endif
