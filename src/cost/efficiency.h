/*
 * Efficiency: the part of a datasheet's promise that training achieves, for each generation of
 * devices. Fitted on public measurements by bench/accuracy, whose --fit prints the table again;
 * docs/costs.md tells how.
 *
 * A matrix product is slowed by two things besides the rate it reaches. It fetches its operands
 * again and again, once for every `reuse` operations: that is what holds back a card with a high
 * rate and a narrow memory. And while a product begins and ends the device is not full, which costs
 * as much as `ramp` operations more.
 */
#ifndef YK_COST_EFFICIENCY_H
#define YK_COST_EFFICIENCY_H

#include "cluster/datasheet.h"
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

#endif
