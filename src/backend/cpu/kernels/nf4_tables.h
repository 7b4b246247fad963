/* NF4 tables: the lists of backend/nf4_lists.h in memory. Constant. */
#ifndef YK_BACKEND_CPU_KERNELS_NF4_TABLES_H
#define YK_BACKEND_CPU_KERNELS_NF4_TABLES_H

#include "backend/nf4_codebook.h"

extern const float yk_nf4_values[YK_NF4_VALUES];
extern const float yk_nf4_bounds[YK_NF4_VALUES - 1];
extern const float yk_nf4_scale_values[YK_NF4_SCALES];

#endif
