#include "backend/cuda/device.h"

#include "backend/cuda/kernels.h"

#include <stdlib.h>

/* Prefetching: the caller writes two buffers alternately. Each op records an event ("mark") on the
 * lane. A prefetched op waits for the mark of the op before: then no earlier matmul reads its
 * buffer any more, while the matmul enqueued since then still runs. */
enum {
    MADE = 2, /* the lane waits for it before it uses the output */
    EVENTS,
};

struct yk_cuda_dequantise_prefetch {
    struct yk_backend_lane *side;
    cudaEvent_t events[EVENTS]; /* two marks, and MADE */
    int turn;                   /* index of the mark to record next */
    const void *to;             /* output of the last op; NULL means: no op yet */
    bool on_side;               /* the last op ran on the side stream */
};

void yk_cuda_dequantise_prefetch_destroy(struct yk_cuda_dequantise_prefetch *prefetch)
{
    if (prefetch) {
        yk_cuda_lane_destroy(prefetch->side);
        for (int i = 0; i < EVENTS; i++) {
            if (prefetch->events[i]) {
                (void)cudaEventDestroy(prefetch->events[i]);
            }
        }
        free(prefetch);
    }
}

void yk_cuda_dequantise_prefetch_reset(struct yk_cuda_dequantise_prefetch *prefetch)
{
    if (prefetch) {
        prefetch->to = NULL;
        prefetch->on_side = false;
    }
}

struct yk_backend_lane *
yk_cuda_dequantise_prefetch_side_lane(const struct yk_cuda_dequantise_prefetch *prefetch)
{
    return prefetch ? prefetch->side : NULL;
}

static struct yk_cuda_dequantise_prefetch *create(struct yk_backend_lane *lane)
{
    struct yk_cuda_dequantise_prefetch *prefetch = calloc(1, sizeof *prefetch);
    if (!prefetch) {
        return NULL;
    }
    bool sound = yk_cuda_lane_create(lane->device, lane->name, &prefetch->side) == YK_OK;
    for (int i = 0; i < EVENTS; i++) {
        sound = sound && cudaEventCreateWithFlags(&prefetch->events[i], cudaEventDisableTiming) ==
                             cudaSuccess;
    }
    if (!sound) {
        (void)cudaGetLastError();
        yk_cuda_dequantise_prefetch_destroy(prefetch);
        return NULL;
    }
    return prefetch;
}

/* Runs the op on the lane, or on the side stream where `on_side` is set. */
static void run(struct yk_backend_lane *lane, struct yk_cuda_dequantise_prefetch *prefetch,
                const struct yk_dequantise_op *op)
{
    if (!prefetch->on_side) {
        yk_cuda_nf4_dequantise_on_lane(lane, op);
        return;
    }
    yk_cuda_nf4_dequantise_on_lane(prefetch->side, op);
    if (!yk_cuda_lane_is_ok(prefetch->side)) {
        yk_cuda_lane_store_failure(lane, prefetch->side->message);
    }
    (void)yk_cuda_lane_check_cuda_error(
        lane, cudaEventRecord(prefetch->events[MADE], prefetch->side->stream), "dequantise");
    (void)yk_cuda_lane_check_cuda_error(
        lane, cudaStreamWaitEvent(lane->stream, prefetch->events[MADE], 0), "dequantise");
}

void yk_cuda_nf4_dequantise(struct yk_backend_lane *lane, const struct yk_dequantise_op *op)
{
    if (!lane->prefetch && op->order == YK_DEQUANTISE_PREFETCH) {
        lane->prefetch = create(lane);
    }
    struct yk_cuda_dequantise_prefetch *prefetch = lane->prefetch;
    if (!prefetch || !yk_cuda_lane_is_ok(lane)) {
        yk_cuda_nf4_dequantise_on_lane(lane, op);
        return;
    }
    if (op->order == YK_DEQUANTISE_WITH_PREVIOUS) {
        run(lane, prefetch, op);
        return;
    }
    const cudaEvent_t now = prefetch->events[prefetch->turn];
    const cudaEvent_t before = prefetch->events[1 - prefetch->turn];
    (void)yk_cuda_lane_check_cuda_error(lane, cudaEventRecord(now, lane->stream), "dequantise");
    prefetch->on_side =
        op->order == YK_DEQUANTISE_PREFETCH && prefetch->to && prefetch->to != op->to;
    if (prefetch->on_side) {
        (void)yk_cuda_lane_check_cuda_error(
            lane, cudaStreamWaitEvent(prefetch->side->stream, before, 0), "dequantise");
    }
    run(lane, prefetch, op);
    prefetch->to = op->to;
    prefetch->turn = 1 - prefetch->turn;
}
