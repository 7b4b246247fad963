/* Attention by cuDNN where it serves and is wanted, else by kernels of our own. */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

static bool tries_cudnn(const struct yk_backend_lane *lane)
{
    return lane->device->attention_choice != YK_CUDA_ATTENTION_OWN;
}

static bool is_nothing(const struct yk_attend *op)
{
    return op->batch == 0 || op->queries == 0 || op->heads == 0;
}

void yk_cuda_attend(struct yk_backend_lane *lane, const struct yk_attend *op)
{
    if (!yk_cuda_sound(lane) || is_nothing(op)) {
        return;
    }
    if (!tries_cudnn(lane) || !yk_cuda_attend_cudnn(lane, op)) {
        yk_cuda_attend_own(lane, op);
    }
}

void yk_cuda_attend_back(struct yk_backend_lane *lane, const struct yk_attend_back *op)
{
    if (!yk_cuda_sound(lane) || is_nothing(&op->forward)) {
        return;
    }
    if (!tries_cudnn(lane) || !yk_cuda_attend_back_cudnn(lane, op)) {
        yk_cuda_attend_back_own(lane, op);
    }
}
