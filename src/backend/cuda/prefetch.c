#include "backend/cuda/prefetch.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#include <stdlib.h>

/*
 * Two places are written by turns. What is on the lane when an op is called is marked; the next one
 * may begin when the mark before has been reached: by then nothing reads its place any more, while
 * the product that was put since then still runs.
 */
struct yk_cuda_prefetch {
    struct yk_backend_lane *side;
    cudaEvent_t marks[2];
    int turn;       /* the mark to be set next; the other is the one before */
    const void *to; /* what was written last; NULL: nothing yet */
    bool beside;    /* that was on the side */
    cudaEvent_t made;
};

void yk_cuda_prefetch_destroy(struct yk_cuda_prefetch *ahead)
{
    if (ahead) {
        yk_cuda_lane_destroy(ahead->side);
        for (int i = 0; i < 2; i++) {
            if (ahead->marks[i]) {
                (void)cudaEventDestroy(ahead->marks[i]);
            }
        }
        if (ahead->made) {
            (void)cudaEventDestroy(ahead->made);
        }
        free(ahead);
    }
}

void yk_cuda_prefetch_forget(struct yk_cuda_prefetch *ahead)
{
    if (ahead) {
        ahead->to = NULL;
        ahead->beside = false;
    }
}

struct yk_backend_lane *yk_cuda_prefetch_side(const struct yk_cuda_prefetch *ahead)
{
    return ahead ? ahead->side : NULL;
}

static struct yk_cuda_prefetch *create(struct yk_backend_lane *lane)
{
    struct yk_cuda_prefetch *ahead = calloc(1, sizeof *ahead);
    if (!ahead) {
        return NULL;
    }
    bool sound = yk_cuda_lane_create(lane->device, lane->name, &ahead->side) == YK_OK &&
                 cudaEventCreateWithFlags(&ahead->made, cudaEventDisableTiming) == cudaSuccess;
    for (int i = 0; i < 2; i++) {
        sound = sound &&
                cudaEventCreateWithFlags(&ahead->marks[i], cudaEventDisableTiming) == cudaSuccess;
    }
    if (!sound) {
        (void)cudaGetLastError();
        yk_cuda_prefetch_destroy(ahead);
        return NULL;
    }
    return ahead;
}

static void run_beside(struct yk_backend_lane *lane, struct yk_cuda_prefetch *ahead,
                       const struct yk_dequantise_op *op)
{
    yk_cuda_dequantise(ahead->side, op);
    if (!yk_cuda_lane_is_ok(ahead->side)) {
        yk_cuda_lane_fail(lane, ahead->side->sentence);
    }
    (void)yk_cuda_lane_check(lane, cudaEventRecord(ahead->made, ahead->side->stream), "dequantise");
    (void)yk_cuda_lane_check(lane, cudaStreamWaitEvent(lane->stream, ahead->made, 0), "dequantise");
}

void yk_cuda_prefetch_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op)
{
    if (!lane->ahead && op->order == YK_DEQUANTISE_PREFETCH) {
        lane->ahead = create(lane);
    }
    struct yk_cuda_prefetch *ahead = lane->ahead;
    if (!ahead || !yk_cuda_lane_is_ok(lane)) {
        yk_cuda_dequantise(lane, op);
        return;
    }
    if (op->order == YK_DEQUANTISE_WITH_LAST) {
        if (ahead->beside) {
            run_beside(lane, ahead, op);
        } else {
            yk_cuda_dequantise(lane, op);
        }
        return;
    }
    const cudaEvent_t now = ahead->marks[ahead->turn];
    const cudaEvent_t before = ahead->marks[1 - ahead->turn];
    (void)yk_cuda_lane_check(lane, cudaEventRecord(now, lane->stream), "dequantise");
    ahead->beside = op->order == YK_DEQUANTISE_PREFETCH && ahead->to && ahead->to != op->to;
    if (ahead->beside) {
        (void)yk_cuda_lane_check(lane, cudaStreamWaitEvent(ahead->side->stream, before, 0),
                                 "dequantise");
        run_beside(lane, ahead, op);
    } else {
        yk_cuda_dequantise(lane, op);
    }
    ahead->to = op->to;
    ahead->turn = 1 - ahead->turn;
}
