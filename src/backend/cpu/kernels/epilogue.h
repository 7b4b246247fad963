/*
 * Ending: what a matrix product does to a row of its output while that is in the cache: bias,
 * residual, activation, and the rounding to c's type.
 */
#ifndef YK_BACKEND_CPU_KERNELS_EPILOGUE_H
#define YK_BACKEND_CPU_KERNELS_EPILOGUE_H

#include "backend/ops.h"

enum {
    YK_CPU_EPILOGUE_WIDTH = 384 /* the most numbers of a row that are ended at once */
};

/* Whether there is anything to do to an fp32 product that is in c already. */
bool yk_cpu_epilogue_is_needed(const struct yk_matmul_op *op);

/* Ends the `count` numbers of row `i` from column `j`, which are in `x` (c itself or not), with the
 * bias of these columns in fp32, or NULL, and stores them in c. */
void yk_cpu_epilogue_apply(const struct yk_matmul_op *op, int64_t i, int64_t j, int64_t count,
                           const float *bias, float *x);

#endif
