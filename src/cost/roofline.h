/*
 * Roofline: predicts times from the datasheet. A time is
 *   max(operations / rate, bytes / bandwidth) + launches · launch time
 * Rate and bandwidth are the datasheet's peak values times the efficiencies that training achieves.
 * Most efficiencies of GPUs were fitted to public measurements: bench-accuracy FOLDER --fit prints
 * them (docs/costs.md). The efficiencies of CPUs are typical values. All functions are thread-safe.
 *
 * A matrix product has two additional costs. First, it loads one number from memory for every
 * `reuse` operations. Second, the device is not fully occupied at the start and at the end of the
 * product. This costs as much time as `ramp` additional operations. Attention has only the second
 * cost.
 */
#ifndef YK_COST_ROOFLINE_H
#define YK_COST_ROOFLINE_H

#include "cluster/cluster.h"
#include "model/kernel_work.h"

enum {
    /* Errors of datasheet predictions, cross-validated on 490 public measurements. */
    YK_ROOFLINE_MEDIAN_ERROR_PERCENT = 12,
    YK_ROOFLINE_P90_ERROR_PERCENT = 29, /* 90th percentile */
};

/* Efficiencies of one device generation. */
struct yk_device_efficiency {
    double rate[YK_KERNEL_CLASS_COUNT][YK_PRECISION_COUNT]; /* fraction of peak operations/s */
    double reuse;    /* operations of a matrix product per number loaded from memory */
    double ramp;     /* operations lost to the start and the end of each matrix product */
    double memory;   /* fraction of peak bytes/s */
    double narrow;   /* fraction of peak bytes/s for 16-bit numbers */
    double launch_s; /* fixed time of each kernel */
};

/* Returns the table of efficiencies. It has YK_DEVICE_GENERATION_COUNT rows. */
const struct yk_device_efficiency *yk_roofline_fitted_efficiencies(void);

/* Returns the seconds that the device needs for `work`. `efficiencies` has
 * YK_DEVICE_GENERATION_COUNT rows; NULL means: yk_roofline_fitted_efficiencies(). */
double yk_roofline_time(const struct yk_device *device,
                        const struct yk_device_efficiency *efficiencies,
                        const struct yk_kernel_work *work);

#endif
