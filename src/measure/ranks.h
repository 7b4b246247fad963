/*
 * Measuring team: the ranks that measure at the same time, each on its own device, so that shared
 * memory and links are as busy as in training. All ranks call the same functions in the same order.
 * Not thread-safe.
 */
#ifndef YK_MEASURE_RANKS_H
#define YK_MEASURE_RANKS_H

#include "base/status.h"
#include "comm/ranks.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_measure_ranks {
    const struct yk_ranks *ranks; /* communicator for host memory */
    const struct yk_ranks *work;  /* communicator for device memory, as in training; NULL if devices
                                     use host memory */
    struct yk_engine engine;
};

static inline const struct yk_ranks *yk_measure_ranks_work(const struct yk_measure_ranks *team)
{
    return team->work ? team->work : team->ranks;
}

/* Whether the device is the CPU, so that computation uses cores of the host. */
static inline bool yk_measure_ranks_use_cores(const struct yk_measure_ranks *team)
{
    return team->engine.backend->used_bytes == NULL;
}

/* out (ranks, count) = `own` (count) of every rank. */
yk_status yk_measure_ranks_all_gather(const struct yk_measure_ranks *team, const double *own,
                                      int32_t count, double *out) YK_MUST_USE;

/* out = maximum of `own` over all ranks. */
yk_status yk_measure_ranks_max(const struct yk_measure_ranks *team, double own,
                               double *out) YK_MUST_USE;

/* out = whether the ranks passed different texts. */
yk_status yk_measure_ranks_differ(const struct yk_measure_ranks *team, const char *text,
                                  bool *out) YK_MUST_USE;

#endif
