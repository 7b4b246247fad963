/*
 * Normalise, going backward: what its two ways share. With n = (x − mean) · rstd and
 * g = dy · weight:
 *   dx       = add + rstd · (g − mean(g) − n · mean(g · n)), RMS without mean(g),
 *   d_weight = the sum over rows of dy · n, d_bias that of dy
 * (Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019).
 */
#ifndef YK_BACKEND_CUDA_KERNELS_NORM_BACKWARD_CUH
#define YK_BACKEND_CUDA_KERNELS_NORM_BACKWARD_CUH

#include "backend/cuda/kernels/partials.cuh"

/* By rows that are held; false where they cannot be, and then nothing was done. */
bool yk_cuda_norm_backward_registers(struct yk_backend_lane *lane,
                                     const struct yk_norm_backward_op *op);

/* What is summed over a row: g and g · n. */
enum {
    YK_NORM_G,
    YK_NORM_GN,
    YK_NORM_SUMS,
};

/* d_weight and d_bias from (groups, 2, width) sums. */
static inline void yk_add_norm_sums(struct yk_backend_lane *lane,
                                    const struct yk_norm_backward_op *op, const float *partials,
                                    int64_t groups)
{
    const struct yk_partials sums = {
        partials,       op->width, static_cast<int32_t>(groups), 2, {op->d_weight, op->d_bias},
        op->weight_type};
    yk_add_partials(yk_cuda_lane_stream(lane), &sums);
}

#endif
