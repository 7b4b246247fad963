/*
 * GPM: what a GPU's own counters (NVML GPU Performance Monitoring, Hopper and newer) say between
 * two samples of them. Drivers refresh them at an interval of their own, and samples between two
 * refreshes are the same. One thread at a time.
 */
#ifndef YK_MEASURE_COUNTERS_GPM_H
#define YK_MEASURE_COUNTERS_GPM_H

#include "base/text.h"
#include "cluster/nvml.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_GPM_SAMPLES = 3
};

struct yk_gpm {
    const struct yk_nvml *nvml;
    void *device;
    int64_t instance;              /* of the GPU, by the driver's number; -1: all of it */
    void *samples[YK_GPM_SAMPLES]; /* NULL: no GPM */
    int marked;                    /* which of them; the same as `last` perhaps */
    int last;                      /* the first one since counters were refreshed last */
    bool begun;                    /* there is a last one */
    struct yk_nvml_gpm request;
};

/* Takes a sample to see that it works. False, with words that say why, where it does not. The table
 * is not copied. */
bool yk_gpm_open(struct yk_gpm *gpm, const struct yk_nvml *nvml, void *device, int64_t instance,
                 struct yk_text *why);
void yk_gpm_close(struct yk_gpm *gpm);

/* Forgets all samples. */
void yk_gpm_restart(struct yk_gpm *gpm);

/* Takes a sample. True when counters were refreshed since the last one; the first one only begins.
 * A driver that does not answer has refreshed nothing. */
bool yk_gpm_poll(struct yk_gpm *gpm);

/* Marks where an average begins: the last refresh. */
void yk_gpm_mark(struct yk_gpm *gpm);

/* Fills in what happened from the mark to the last refresh; leaves the rest of values
 * (YK_COUNTER_COUNT). */
void yk_gpm_read(struct yk_gpm *gpm, double *values);

#endif
