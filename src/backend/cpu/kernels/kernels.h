/*
 * Kernels: the ops of backend/ops.h on the CPU. A kernel runs on the thread of a lane and divides
 * its work among `threads` threads. `op` points to the struct of the op. The division of the work
 * does not depend on `threads`, and neither does the result.
 */
#ifndef YK_BACKEND_CPU_KERNELS_KERNELS_H
#define YK_BACKEND_CPU_KERNELS_KERNELS_H

#include "backend/ops.h"

#define YK_CPU_DECLARE_KERNEL(CAPITALS, name, function)                                            \
    void yk_cpu_##function(int threads, const void *op);
YK_OPS_FOR_EACH(YK_CPU_DECLARE_KERNEL)
#undef YK_CPU_DECLARE_KERNEL

#endif
