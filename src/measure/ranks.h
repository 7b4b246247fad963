/*
 * Measure ranks: the ranks that measure together, each with its device, all at the same time, so
 * that what they share (memory, links) is as busy as in training. All ranks call the functions, in
 * one order. One thread at a time.
 */
#ifndef YK_MEASURE_RANKS_H
#define YK_MEASURE_RANKS_H

#include "base/status.h"
#include "comm/ranks.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_measure_ranks {
    const struct yk_ranks *ranks; /* for what they exchange in the host's memory */
    const struct yk_ranks *work;  /* for what training exchanges in the device's; NULL: the
                                     same, since both are the host's */
    struct yk_engine engine;
};

static inline const struct yk_ranks *yk_measure_ranks_work(const struct yk_measure_ranks *team)
{
    return team->work ? team->work : team->ranks;
}

/* Whether computation uses cores of the host, which others may use as well. */
static inline bool yk_measure_ranks_use_cores(const struct yk_measure_ranks *team)
{
    return team->engine.backend->used_bytes == NULL;
}

/* out (size, count) = every rank's `own` (count). */
yk_status yk_measure_ranks_all_gather(const struct yk_measure_ranks *team, const double *own,
                                      int32_t count, double *out) YK_MUST_USE;

/* The largest that any rank has. */
yk_status yk_measure_ranks_max(const struct yk_measure_ranks *team, double own,
                               double *out) YK_MUST_USE;

/* Whether ranks call it with different texts. */
yk_status yk_measure_ranks_differ(const struct yk_measure_ranks *team, const char *text,
                                  bool *out) YK_MUST_USE;

#endif
