/*
 * NF4 tables: the lists of backend/nf4_lists.h, those that threads read at places of their own in
 * the device's memory, those that all threads read alike where that is fast. Constant.
 */
#ifndef YK_BACKEND_CUDA_KERNELS_NF4_CUH
#define YK_BACKEND_CUDA_KERNELS_NF4_CUH

#include "backend/nf4_codebook.h"

static __device__ const float yk_nf4_values[YK_NF4_VALUES] = {YK_NF4_VALUE_CODEBOOK};
static __constant__ const float yk_nf4_bounds[YK_NF4_VALUES - 1] = {YK_NF4_BOUND_CODEBOOK};
static __device__ const float yk_nf4_scale_values[YK_NF4_SCALES] = {YK_NF4_SCALE_CODEBOOK};

#endif
