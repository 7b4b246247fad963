#include "backend/cuda/device.h"

#include "backend/cuda/kernels.h"

#include <stdlib.h>

/* The caller writes two buffers alternately. Each op records an event ("mark") on the lane. A
 * prefetched op waits for the mark of the op before: then no earlier matmul reads its buffer any
 * more, while the matmul enqueued since then still runs. */
struct yk_cuda_prefetch {
    struct yk_backend_lane *side;
    cudaEvent_t marks[2];
    int turn;         /* index of the mark to record next */
    const void *to;   /* output of the last op; NULL means: no op yet */
    bool on_side;     /* the last op ran on the side stream */
    cudaEvent_t made; /* the lane waits for it before it uses the output */
};

void yk_cuda_prefetch_destroy(struct yk_cuda_prefetch *prefetch)
{
    if (prefetch) {
        yk_cuda_lane_destroy(prefetch->side);
        for (int i = 0; i < 2; i++) {
            if (prefetch->marks[i]) {
                (void)cudaEventDestroy(prefetch->marks[i]);
            }
        }
        if (prefetch->made) {
            (void)cudaEventDestroy(prefetch->made);
        }
        free(prefetch);
    }
}

void yk_cuda_prefetch_reset(struct yk_cuda_prefetch *prefetch)
{
    if (prefetch) {
        prefetch->to = NULL;
        prefetch->on_side = false;
    }
}

struct yk_backend_lane *yk_cuda_prefetch_side_lane(const struct yk_cuda_prefetch *prefetch)
{
    return prefetch ? prefetch->side : NULL;
}

static struct yk_cuda_prefetch *create(struct yk_backend_lane *lane)
{
    struct yk_cuda_prefetch *prefetch = calloc(1, sizeof *prefetch);
    if (!prefetch) {
        return NULL;
    }
    bool sound = yk_cuda_lane_create(lane->device, lane->name, &prefetch->side) == YK_OK &&
                 cudaEventCreateWithFlags(&prefetch->made, cudaEventDisableTiming) == cudaSuccess;
    for (int i = 0; i < 2; i++) {
        sound = sound && cudaEventCreateWithFlags(&prefetch->marks[i], cudaEventDisableTiming) ==
                             cudaSuccess;
    }
    if (!sound) {
        (void)cudaGetLastError();
        yk_cuda_prefetch_destroy(prefetch);
        return NULL;
    }
    return prefetch;
}

static void run_on_side(struct yk_backend_lane *lane, struct yk_cuda_prefetch *prefetch,
                        const struct yk_dequantise_op *op)
{
    yk_cuda_nf4_dequantise(prefetch->side, op);
    if (!yk_cuda_lane_is_ok(prefetch->side)) {
        yk_cuda_lane_fail(lane, prefetch->side->message);
    }
    (void)yk_cuda_lane_check(lane, cudaEventRecord(prefetch->made, prefetch->side->stream),
                             "dequantise");
    (void)yk_cuda_lane_check(lane, cudaStreamWaitEvent(lane->stream, prefetch->made, 0),
                             "dequantise");
}

void yk_cuda_prefetch_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op)
{
    if (!lane->prefetch && op->order == YK_DEQUANTISE_PREFETCH) {
        lane->prefetch = create(lane);
    }
    struct yk_cuda_prefetch *prefetch = lane->prefetch;
    if (!prefetch || !yk_cuda_lane_is_ok(lane)) {
        yk_cuda_nf4_dequantise(lane, op);
        return;
    }
    if (op->order == YK_DEQUANTISE_WITH_PREVIOUS) {
        if (prefetch->on_side) {
            run_on_side(lane, prefetch, op);
        } else {
            yk_cuda_nf4_dequantise(lane, op);
        }
        return;
    }
    const cudaEvent_t now = prefetch->marks[prefetch->turn];
    const cudaEvent_t before = prefetch->marks[1 - prefetch->turn];
    (void)yk_cuda_lane_check(lane, cudaEventRecord(now, lane->stream), "dequantise");
    prefetch->on_side =
        op->order == YK_DEQUANTISE_PREFETCH && prefetch->to && prefetch->to != op->to;
    if (prefetch->on_side) {
        (void)yk_cuda_lane_check(lane, cudaStreamWaitEvent(prefetch->side->stream, before, 0),
                                 "dequantise");
        run_on_side(lane, prefetch, op);
    } else {
        yk_cuda_nf4_dequantise(lane, op);
    }
    prefetch->to = op->to;
    prefetch->turn = 1 - prefetch->turn;
}
