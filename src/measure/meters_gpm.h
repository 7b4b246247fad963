/*
 * GPM: what a GPU's own counters (NVML GPU Performance Monitoring, Hopper and newer) say between
 * two samples of them. One thread at a time.
 */
#ifndef YK_MEASURE_METERS_GPM_H
#define YK_MEASURE_METERS_GPM_H

#include "base/text.h"
#include "cluster/nvml.h"

#include <stdbool.h>

struct yk_gpm {
    const struct yk_nvml *nvml;
    void *device;
    void *samples[2]; /* the last one and the one to come; NULL: no GPM */
    bool begun;       /* the last one is there */
    struct yk_nvml_gpm request;
};

/* Takes a sample to see that it works. False, with words that say why, where it does not. The table
 * is kept as it is. */
bool yk_gpm_open(struct yk_gpm *gpm, const struct yk_nvml *nvml, void *device, struct yk_text *why);
void yk_gpm_close(struct yk_gpm *gpm);

/* Forgets the last sample. */
void yk_gpm_restart(struct yk_gpm *gpm);

/* Fills in what happened since the last sample; leaves the rest of values (YK_COUNTER_COUNT). False
 * when the driver gave nothing where it should have: samples were too close for it. */
bool yk_gpm_read(struct yk_gpm *gpm, double *values);

#endif
