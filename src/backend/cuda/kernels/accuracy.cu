#include "backend/cuda/kernels.h"

#include "backend/cuda/kernels/elements.cuh"

enum {
    RANK_THREADS = 256,
};

/* A block for each row counts the classes that are better than the target. Sums of whole numbers do
 * not depend on their order. */
template <typename T>
static __global__ void __launch_bounds__(RANK_THREADS) rank_targets(struct yk_accuracy_op op)
{
    const int64_t row = blockIdx.x;
    const int64_t target = op.targets[row];
    if (target < 0 || target >= op.classes) {
        return;
    }
    const T *logits = static_cast<const T *>(op.logits) + row * op.stride;
    const float own = yk_to_float(logits[target]);
    double better = 0;
    for (int64_t i = threadIdx.x; i < op.classes; i += RANK_THREADS) {
        const float other = yk_to_float(logits[i]);
        const bool lower = other < own || (other == own && i > target);
        better += i != target && !lower ? 1 : 0; /* all others, if `own` is NaN */
    }
    better = yk_block_sum(better);
    if (threadIdx.x == 0 && better < YK_ACCURACY_TOP) {
        atomicAdd(op.hits + 1, 1.0);
        if (better < 1) {
            atomicAdd(op.hits, 1.0);
        }
    }
}

void yk_cuda_accuracy(struct yk_backend_lane *lane, const struct yk_accuracy_op *op)
{
    if (!yk_cuda_lane_is_ok(lane) || op->rows <= 0) {
        return;
    }
    cudaStream_t stream = yk_cuda_lane_stream(lane);
    yk_dispatch_type(op->type, [&](auto number) {
        using T = decltype(number);
        rank_targets<T><<<static_cast<unsigned>(op->rows), RANK_THREADS, 0, stream>>>(*op);
    });
    yk_cuda_lane_check_cuda_error(lane, cudaGetLastError(), "accuracy");
}
