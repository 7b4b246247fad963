/*
 * Ending: what a matrix product does to a row of its output while that is in the cache: bias,
 * residual, activation, and the rounding to c's type.
 */
#ifndef YK_BACKEND_CPU_ENDING_H
#define YK_BACKEND_CPU_ENDING_H

#include "backend/ops.h"

enum {
    YK_CPU_ENDING_WIDTH = 384 /* the most numbers of a row that are ended at once */
};

/* Whether there is anything to do to an fp32 product that is in c already. */
bool yk_cpu_ending_needed(const struct yk_matmul *op);

/* Ends the `count` numbers of row `i` from column `j`, which are in `x` (c itself or not), with the
 * bias of these columns in fp32, or NULL, and stores them in c. */
void yk_cpu_end(const struct yk_matmul *op, int64_t i, int64_t j, int64_t count, const float *bias,
                float *x);

#endif
