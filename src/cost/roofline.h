/*
 * Roofline: times from the datasheet: max(operations / rate, bytes / bandwidth) + launches · launch
 * time. Rates and bandwidths are scaled by the efficiency that training achieves. Efficiencies were
 * fitted per device generation to public measurements; bench/accuracy --fit prints the table
 * (docs/costs.md). Any thread.
 *
 * A matrix product has two additional costs. It loads one operand from memory for every `reuse`
 * operations. And while it starts and ends, the device is not fully occupied, which costs as much
 * as `ramp` additional operations.
 */
#ifndef YK_COST_ROOFLINE_H
#define YK_COST_ROOFLINE_H

#include "cluster/cluster.h"
#include "model/kernel_work.h"

enum {
    /* Errors of datasheet predictions, cross-validated over 490 public measurements. */
    YK_EFFICIENCY_MEDIAN_ERROR_PERCENT = 12,
    YK_EFFICIENCY_P90_ERROR_PERCENT = 29, /* 90th percentile */
};

/* Efficiencies of one device generation. */
struct yk_device_efficiency {
    double rate[YK_KERNEL_CLASS_COUNT][YK_PRECISION_COUNT]; /* fraction of peak operations/s */
    double reuse;    /* operations of a matrix product per number loaded from memory */
    double ramp;     /* operations lost to the start and the end of each matrix product */
    double memory;   /* fraction of peak bytes/s */
    double narrow;   /* the same for 16-bit numbers */
    double launch_s; /* fixed time of a kernel */
};

/* The fitted table, with YK_DEVICE_GENERATION_COUNT rows. */
const struct yk_device_efficiency *yk_roofline_fitted_efficiencies(void);

/* Seconds of `work`. `efficiencies` has YK_DEVICE_GENERATION_COUNT rows; NULL means: the fitted
 * ones. */
double yk_roofline_time(const struct yk_device *device,
                        const struct yk_device_efficiency *efficiencies,
                        const struct yk_kernel_work *work);

#endif
