/*
 * GPM counters: averages of GPU activity between two samples of NVML GPU Performance Monitoring
 * (Hopper and newer). The driver refreshes these counters periodically; samples between two
 * refreshes are equal. Not thread-safe.
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
    int64_t instance;              /* MIG instance by the driver's index; -1: the whole GPU */
    void *samples[YK_GPM_SAMPLES]; /* NULL if GPM is not available */
    int marked;                    /* index of the sample at the mark; may equal `last` */
    int last;                      /* index of the first sample after the last refresh */
    bool begun;                    /* `last` is valid */
    struct yk_nvml_gpm request;
};

/* Checks with a first sample that GPM works. If not, it returns false and adds the reason to `why`.
 * `nvml` is not copied and must outlive `gpm`. */
bool yk_gpm_open(struct yk_gpm *gpm, const struct yk_nvml *nvml, void *device, int64_t instance,
                 struct yk_text *why);
void yk_gpm_close(struct yk_gpm *gpm);

/* Discards all samples. */
void yk_gpm_restart(struct yk_gpm *gpm);

/* Reads a sample. Returns whether the counters were refreshed since the previous sample: false for
 * the first sample, and if the driver does not answer. */
bool yk_gpm_poll(struct yk_gpm *gpm);

/* Begins a new average at the last refresh. */
void yk_gpm_mark(struct yk_gpm *gpm);

/* Sets the entries of values (YK_COUNTER_COUNT) that GPM provides to their averages from the mark to
 * the last refresh, and leaves the others unchanged. */
void yk_gpm_read(struct yk_gpm *gpm, double *values);

#endif
