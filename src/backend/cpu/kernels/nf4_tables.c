#include "backend/cpu/kernels/nf4_tables.h"

const float yk_nf4_values[YK_NF4_VALUES] = {YK_NF4_VALUE_CODEBOOK};
const float yk_nf4_bounds[YK_NF4_VALUES - 1] = {YK_NF4_BOUND_CODEBOOK};
const float yk_nf4_scale_values[YK_NF4_SCALES] = {YK_NF4_SCALE_CODEBOOK};
