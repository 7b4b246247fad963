/* Products whose outputs lie side by side, such as queries, keys and values, on streams of their
 * own. The streams and events are made once, with the first of them. */
#include "backend/cuda/device.h"
#include "backend/cuda/matmul/split.h"

_Static_assert((int)YK_BACKEND_SIDE_BYTES == (int)YK_CUDA_SIDES * (int)YK_CUDA_SCRATCH_BYTES,
               "plans count the scratch memory of each side");

static bool make_sides(struct yk_backend_lane *lane)
{
    if (lane->fork) {
        return true;
    }
    if (!yk_cuda_lane_check(lane, cudaEventCreateWithFlags(&lane->fork, cudaEventDisableTiming),
                            "making streams")) {
        return false;
    }
    for (int i = 0; i < YK_CUDA_SIDES; i++) {
        struct yk_backend_lane *side = NULL;
        if (yk_cuda_lane_create(lane->device, lane->name, &side) != YK_OK) {
            yk_cuda_lane_fail(lane, "no further stream can be made");
            return false;
        }
        lane->sides[i] = side;
        if (!yk_cuda_lane_check(lane,
                                cudaEventCreateWithFlags(&lane->joins[i], cudaEventDisableTiming),
                                "making streams")) {
            return false;
        }
    }
    return true;
}

void yk_matmul_split_streams(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                             yk_matmul_split_function *multiply)
{
    const int64_t cuts[YK_CUDA_SIDES + 2] = {0, op->cuts[0], op->cuts[1] > 0 ? op->cuts[1] : op->n,
                                             op->n};
    if (!make_sides(lane) ||
        !yk_cuda_lane_check(lane, cudaEventRecord(lane->fork, lane->stream), "starting streams")) {
        return;
    }
    for (int i = 0; i < YK_CUDA_SIDES && cuts[i + 2] > cuts[i + 1]; i++) {
        struct yk_backend_lane *side = lane->sides[i];
        const struct yk_matmul_op part = yk_matmul_split_columns(op, cuts[i + 1], cuts[i + 2]);
        (void)yk_cuda_lane_check(side, cudaStreamWaitEvent(side->stream, lane->fork, 0), "waiting");
        multiply(side, &part);
        (void)yk_cuda_lane_check(side, cudaEventRecord(lane->joins[i], side->stream),
                                 "joining streams");
        if (!yk_cuda_lane_is_ok(side)) {
            yk_cuda_lane_fail(lane, side->message);
        }
    }
    const struct yk_matmul_op own = yk_matmul_split_columns(op, 0, cuts[1]);
    multiply(lane, &own);
    for (int i = 0; i < YK_CUDA_SIDES && cuts[i + 2] > cuts[i + 1]; i++) {
        (void)yk_cuda_lane_check(lane, cudaStreamWaitEvent(lane->stream, lane->joins[i], 0),
                                 "joining streams");
    }
}
