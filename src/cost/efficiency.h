/*
 * Efficiency: the part of a datasheet's promise that training achieves, for each class of work and
 * generation of devices. Fitted on public measurements by bench/accuracy, which prints this table.
 */
#ifndef YK_COST_EFFICIENCY_H
#define YK_COST_EFFICIENCY_H

#include "cluster/datasheet.h"
#include "model/work.h"

/* One row for each generation. */
struct yk_efficiency {
    double rate[YK_WORK_CLASS_COUNT][YK_PRECISION_COUNT]; /* of the datasheet's operations/s */
    double memory;                                        /* of the datasheet's bytes/s */
    double launch_s;                                      /* a kernel's fixed time */
};

/* (YK_GENERATION_COUNT) */
const struct yk_efficiency *yk_efficiency_fitted(void);

#endif
