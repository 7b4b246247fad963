/*
 * NF4 tables: the values that codes of weights and of their scales stand for (Dettmers, Pagnoni,
 * Holtzman and Zettlemoyer, "QLoRA", 2023), as bitsandbytes has them. Constant.
 */
#ifndef YK_BACKEND_CPU_NF4_TABLES_H
#define YK_BACKEND_CPU_NF4_TABLES_H

enum {
    YK_NF4_VALUES = 16,
    YK_NF4_SCALES = 256,
};

/* Quantiles of the normal distribution, made symmetric around an exact 0, ascending. */
extern const float yk_nf4_values[YK_NF4_VALUES];

/* A number greater than bound i has a code greater than i: midpoints of neighbouring values. */
extern const float yk_nf4_bounds[YK_NF4_VALUES - 1];

/* The dynamic map with sign, ascending (Dettmers, "8-bit approximations for parallelism", 2016):
 * for i = 0 to 6 the midpoints of 2^i equal parts of 0.1 to 1, times 10^(i − 6), with both signs; 0
 * and
 * 1. In fp32 as PyTorch's linspace gives it. */
extern const float yk_nf4_scale_values[YK_NF4_SCALES];

#endif
