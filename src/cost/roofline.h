/*
 * Roofline: how long work takes by the datasheet: max(operations / rate, bytes / bandwidth) plus
 * launches, each scaled by the efficiency that training achieves. Efficiencies of each generation
 * of devices were fitted on public measurements by bench/accuracy, whose --fit prints the table
 * again (docs/costs.md). Any thread.
 *
 * A matrix product has two costs more: it fetches its operands again, once for every
 * `reuse` operations, which holds back devices with a high rate and a narrow memory; and while it
 * begins and ends the device is not full, which costs as much as `ramp` operations more.
 */
#ifndef YK_COST_ROOFLINE_H
#define YK_COST_ROOFLINE_H

#include "cluster/cluster.h"
#include "model/work.h"

enum {
    /* Of predictions from datasheets, by efficiencies that were fitted on other sources only. */
    YK_EFFICIENCY_MEDIAN_ERROR_PERCENT = 12, /* the median, over 490 public measurements */
    YK_EFFICIENCY_P90_ERROR_PERCENT = 29,    /* nine tenths of them are under it */
};

/* One row for each generation. */
struct yk_efficiency {
    double rate[YK_WORK_CLASS_COUNT][YK_PRECISION_COUNT]; /* of the datasheet's operations/s */
    double reuse;    /* operations that a product does for each number it fetches from memory */
    double ramp;     /* operations lost to the beginning and the end of each product */
    double memory;   /* of the datasheet's bytes/s */
    double narrow;   /* of them, where the numbers have 16 bits */
    double launch_s; /* a kernel's fixed time */
};

/* (YK_GENERATION_COUNT) */
const struct yk_efficiency *yk_roofline_fitted_efficiency(void);

/* Seconds of `work`; `efficiencies` has YK_GENERATION_COUNT rows, NULL: the fitted ones. */
double yk_roofline_time(const struct yk_device *device, const struct yk_efficiency *efficiencies,
                        const struct yk_work *work);

#endif
