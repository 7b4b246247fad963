#include "backend/cuda/ahead.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#include <stdlib.h>

/*
 * Two places are written by turns. What is on the lane when an op is called is marked; the next one
 * may begin when the mark before has been reached: by then nothing reads its place any more, while
 * the product that was put since then still runs.
 */
struct yk_cuda_ahead {
    struct yk_backend_lane *side;
    cudaEvent_t marks[2];
    int turn;       /* the mark to be set next; the other is the one before */
    const void *to; /* what was written last; NULL: nothing yet */
    bool beside;    /* that was on the side */
    cudaEvent_t made;
};

void yk_cuda_ahead_destroy(struct yk_cuda_ahead *ahead)
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

void yk_cuda_ahead_forget(struct yk_cuda_ahead *ahead)
{
    if (ahead) {
        ahead->to = NULL;
        ahead->beside = false;
    }
}

struct yk_backend_lane *yk_cuda_ahead_side(const struct yk_cuda_ahead *ahead)
{
    return ahead ? ahead->side : NULL;
}

static struct yk_cuda_ahead *create(struct yk_backend_lane *lane)
{
    struct yk_cuda_ahead *ahead = calloc(1, sizeof *ahead);
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
        yk_cuda_ahead_destroy(ahead);
        return NULL;
    }
    return ahead;
}

static void run_beside(struct yk_backend_lane *lane, struct yk_cuda_ahead *ahead,
                       const struct yk_dequantise *op)
{
    yk_cuda_dequantise(ahead->side, op);
    if (!yk_cuda_sound(ahead->side)) {
        yk_cuda_trouble(lane, ahead->side->sentence);
    }
    (void)yk_cuda_note(lane, cudaEventRecord(ahead->made, ahead->side->stream), "dequantise");
    (void)yk_cuda_note(lane, cudaStreamWaitEvent(lane->stream, ahead->made, 0), "dequantise");
}

void yk_cuda_dequantise_ahead(struct yk_backend_lane *lane, const struct yk_dequantise *op)
{
    if (!lane->ahead && op->turn == YK_TURN_AHEAD) {
        lane->ahead = create(lane);
    }
    struct yk_cuda_ahead *ahead = lane->ahead;
    if (!ahead || !yk_cuda_sound(lane)) {
        yk_cuda_dequantise(lane, op);
        return;
    }
    if (op->turn == YK_TURN_WITH_LAST) {
        if (ahead->beside) {
            run_beside(lane, ahead, op);
        } else {
            yk_cuda_dequantise(lane, op);
        }
        return;
    }
    const cudaEvent_t now = ahead->marks[ahead->turn];
    const cudaEvent_t before = ahead->marks[1 - ahead->turn];
    (void)yk_cuda_note(lane, cudaEventRecord(now, lane->stream), "dequantise");
    ahead->beside = op->turn == YK_TURN_AHEAD && ahead->to && ahead->to != op->to;
    if (ahead->beside) {
        (void)yk_cuda_note(lane, cudaStreamWaitEvent(ahead->side->stream, before, 0), "dequantise");
        run_beside(lane, ahead, op);
    } else {
        yk_cuda_dequantise(lane, op);
    }
    ahead->to = op->to;
    ahead->turn = 1 - ahead->turn;
}
