/*
 * Measuring ranks: the ranks of one measurement (`team`). They measure at the same time, each on
 * its own device, so that shared memory and links are as busy as in training. All ranks must call
 * the same functions in the same order. Not thread-safe.
 */
#ifndef YK_MEASURE_MEASURING_RANKS_H
#define YK_MEASURE_MEASURING_RANKS_H

#include "base/status.h"
#include "comm/communicator.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_measuring_ranks {
    const struct yk_communicator *host_communicator;
    const struct yk_communicator *device_communicator; /* NULL if devices use host memory */
    struct yk_device_context context;
};

static inline const struct yk_communicator *
yk_measuring_ranks_device_communicator(const struct yk_measuring_ranks *team)
{
    return team->device_communicator ? team->device_communicator : team->host_communicator;
}

/* Returns whether the device is the CPU. Computation then uses cores of the host. */
static inline bool yk_measuring_ranks_compute_on_cpu(const struct yk_measuring_ranks *team)
{
    return team->context.backend->used_bytes == NULL;
}

/* Every rank gets the numbers of all ranks. `own` has `count` numbers. The numbers of rank r begin
 * at out[r * count]. */
yk_status yk_measuring_ranks_all_gather(const struct yk_measuring_ranks *team, const double *own,
                                        int32_t count, double *out) YK_MUST_USE;

/* Sets `*out` to the maximum of `own` over all ranks. */
yk_status yk_measuring_ranks_all_reduce_max(const struct yk_measuring_ranks *team, double own,
                                            double *out) YK_MUST_USE;

/* Sets `*out` to whether the texts of the ranks differ. */
yk_status yk_measuring_ranks_texts_differ(const struct yk_measuring_ranks *team, const char *text,
                                          bool *out) YK_MUST_USE;

#endif
