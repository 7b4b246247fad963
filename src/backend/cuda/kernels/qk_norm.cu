#include "backend/cuda/kernels.h"

void yk_cuda_qk_norm(struct yk_backend_lane *lane, const struct yk_qk_norm_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->q.rows <= 0) {
        return;
    }
    if (!yk_cuda_grouped_norm_try_qk_forward(lane, op)) {
        yk_cuda_norm(lane, &op->q);
        yk_cuda_norm(lane, &op->k);
        if (op->rotary.cos_sin) {
            yk_cuda_rotary(lane, &op->rotary);
        }
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "qk_norm");
}

void yk_cuda_qk_norm_backward(struct yk_backend_lane *lane, const struct yk_qk_norm_backward_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->q.rows <= 0) {
        return;
    }
    if (!yk_cuda_grouped_norm_try_qk_backward(lane, op)) {
        if (op->rotary.cos_sin) {
            yk_cuda_rotary(lane, &op->rotary);
        }
        yk_cuda_norm_backward(lane, &op->q);
        yk_cuda_norm_backward(lane, &op->k);
    }
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "qk_norm_backward");
}
