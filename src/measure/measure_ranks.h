/*
 * Measure ranks: the ranks that measure together: each with its device, all in step, so that what
 * they share (memory, links) is as busy as in training.
 *
 * The functions are called by all ranks in one order. One thread at a time.
 */
#ifndef YK_MEASURE_MEASURE_RANKS_H
#define YK_MEASURE_MEASURE_RANKS_H

#include "base/status.h"
#include "comm/ranks.h"
#include "nn/store.h"

#include <stdint.h>

struct yk_measure_ranks {
    const struct yk_ranks *ranks;
    struct yk_engine engine; /* with the ranks' lane on its device */
};

/* out (size, count) = every rank's `own` (count). */
yk_status yk_measure_gather(const struct yk_measure_ranks *team, const double *own, int32_t count,
                            double *out) YK_MUST_USE;

/* The largest that any rank has. */
yk_status yk_measure_most(const struct yk_measure_ranks *team, double own, double *out) YK_MUST_USE;

#endif
