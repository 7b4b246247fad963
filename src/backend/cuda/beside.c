/* Products whose outputs lie side by side, such as queries, keys and values, on streams of their
 * own. The streams and events are made once, with the first of them. */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

static bool make_sides(struct yk_backend_lane *lane)
{
    if (lane->fork) {
        return true;
    }
    if (!yk_cuda_note(lane, cudaEventCreateWithFlags(&lane->fork, cudaEventDisableTiming),
                      "making streams")) {
        return false;
    }
    for (int i = 0; i < YK_CUDA_SIDES; i++) {
        struct yk_backend_lane *side = NULL;
        if (yk_cuda_lane_create(lane->device, lane->name, &side) != YK_OK) {
            yk_cuda_trouble(lane, "no further stream can be made");
            return false;
        }
        lane->sides[i] = side;
        if (!yk_cuda_note(lane, cudaEventCreateWithFlags(&lane->joins[i], cudaEventDisableTiming),
                          "making streams")) {
            return false;
        }
    }
    return true;
}

static const void *shift(const void *from, int64_t numbers, enum yk_precision type)
{
    return from ? (const char *)from + numbers * yk_precision_bytes(type) : NULL;
}

/* Columns from `first` up to `end` of the product. */
static struct yk_matmul part_of(const struct yk_matmul *op, int64_t first, int64_t end)
{
    struct yk_matmul part = *op;
    part.n = end - first;
    part.b = shift(op->b, op->b_transposed ? first * op->b_stride : first, op->b_type);
    part.c = (void *)(uintptr_t)shift(op->c, first, op->c_type);
    part.bias = shift(op->bias, first, op->bias_type);
    part.add = shift(op->add, first, op->c_type);
    part.aux = (void *)(uintptr_t)shift(op->aux, first, op->c_type);
    part.cuts[0] = 0;
    part.cuts[1] = 0;
    return part;
}

void yk_cuda_multiply_beside(struct yk_backend_lane *lane, const struct yk_matmul *op,
                             void (*multiply)(struct yk_backend_lane *lane,
                                              const struct yk_matmul *op))
{
    const int64_t cuts[YK_CUDA_SIDES + 2] = {0, op->cuts[0], op->cuts[1] > 0 ? op->cuts[1] : op->n,
                                             op->n};
    if (!make_sides(lane) ||
        !yk_cuda_note(lane, cudaEventRecord(lane->fork, lane->stream), "starting streams")) {
        return;
    }
    for (int i = 0; i < YK_CUDA_SIDES && cuts[i + 2] > cuts[i + 1]; i++) {
        struct yk_backend_lane *side = lane->sides[i];
        const struct yk_matmul part = part_of(op, cuts[i + 1], cuts[i + 2]);
        (void)yk_cuda_note(side, cudaStreamWaitEvent(side->stream, lane->fork, 0), "waiting");
        multiply(side, &part);
        (void)yk_cuda_note(side, cudaEventRecord(lane->joins[i], side->stream), "joining streams");
        if (!yk_cuda_sound(side)) {
            yk_cuda_trouble(lane, side->sentence);
        }
    }
    const struct yk_matmul own = part_of(op, 0, cuts[1]);
    multiply(lane, &own);
    for (int i = 0; i < YK_CUDA_SIDES && cuts[i + 2] > cuts[i + 1]; i++) {
        (void)yk_cuda_note(lane, cudaStreamWaitEvent(lane->stream, lane->joins[i], 0),
                           "joining streams");
    }
}
