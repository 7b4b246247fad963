/* Attention by cuDNN where it serves and is wanted, else by kernels of our own. */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

enum {
    SMALL_HEAD = 64,
};

static bool tries_cudnn(const struct yk_backend_lane *lane)
{
    return lane->device->attention_choice != YK_CUDA_ATTENTION_BUILTIN;
}

static bool is_nothing(const struct yk_attention_op *op)
{
    return op->batch == 0 || op->queries == 0 || op->heads == 0;
}

void yk_cuda_attention(struct yk_backend_lane *lane, const struct yk_attention_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || is_nothing(op)) {
        return;
    }
    if (!tries_cudnn(lane) || !yk_cuda_attention_cudnn_try_forward(lane, op)) {
        yk_cuda_attention_builtin_forward(lane, op);
    }
}

void yk_cuda_attention_backward(struct yk_backend_lane *lane,
                                const struct yk_attention_backward_op *op)
{
    if (!yk_cuda_lane_is_ok(lane)) {
        return;
    }
    if (is_nothing(&op->forward)) {
        (void)yk_cuda_attention_builtin_clear_key_gradients(lane, op);
        return;
    }
    /* Gradients are the same bits every time, unless cuDNN was asked for by name. Of small heads
     * our own kernels make those as fast, without memory for all scores. */
    const bool repeatable = lane->device->attention_choice != YK_CUDA_ATTENTION_CUDNN;
    const bool tries = !repeatable || (tries_cudnn(lane) && op->forward.head_size > SMALL_HEAD);
    if (!tries || !yk_cuda_attention_cudnn_try_backward(lane, op, repeatable)) {
        yk_cuda_attention_builtin_backward(lane, op);
    }
}
