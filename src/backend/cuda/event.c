/* Events, and their times on the host's clock. */
#include "backend/cuda/device.h"

#include "base/clock.h"

#include <stdlib.h>

/* Up to this many seconds, fp32 milliseconds are exact to a microsecond. */
#define ANCHOR_S 8.0

/* Nothing else runs on the clock stream, so the event happens when it is recorded. */
static cudaError_t record_anchor(struct yk_backend_device *device, cudaEvent_t event)
{
    const cudaError_t error = cudaEventRecord(event, device->clock_stream);
    return error == cudaSuccess ? cudaEventSynchronize(event) : error;
}

yk_status yk_cuda_event_start_clock(struct yk_backend_device *device)
{
    cudaError_t error = cudaStreamCreateWithFlags(&device->clock_stream, cudaStreamNonBlocking);
    (void)pthread_mutex_init(&device->clock_lock, NULL);
    YK_CUDA_CALL_UNLESS_FAILED(error, cudaEventCreate(&device->anchor));
    /* The first record is slow, so the second one becomes the anchor. */
    YK_CUDA_CALL_UNLESS_FAILED(error, record_anchor(device, device->anchor));
    const double before_s = yk_clock_now_s();
    YK_CUDA_CALL_UNLESS_FAILED(error, record_anchor(device, device->anchor));
    device->anchor_s = (before_s + yk_clock_now_s()) / 2;
    return error == cudaSuccess
               ? YK_OK
               : yk_cuda_device_report_cuda_error(device, error, "starting its clock");
}

void yk_cuda_event_stop_clock(struct yk_backend_device *device)
{
    if (device->anchor) {
        (void)cudaEventDestroy(device->anchor);
    }
    if (device->clock_stream) {
        (void)cudaStreamDestroy(device->clock_stream);
    }
    (void)pthread_mutex_destroy(&device->clock_lock);
}

static double after_anchor_s(const struct yk_backend_device *device, cudaEvent_t event)
{
    float passed_ms = 0;
    if (cudaEventElapsedTime(&passed_ms, device->anchor, event) != cudaSuccess) {
        (void)cudaGetLastError(); /* never recorded, or not happened yet */
        return 0;
    }
    return (double)passed_ms / 1000;
}

/* Moves the anchor to now. */
static void renew(struct yk_backend_device *device)
{
    cudaEvent_t next = NULL;
    if (cudaEventCreate(&next) != cudaSuccess) {
        return;
    }
    if (record_anchor(device, next) == cudaSuccess) {
        device->anchor_s += after_anchor_s(device, next);
        (void)cudaEventDestroy(device->anchor);
        device->anchor = next;
    } else {
        (void)cudaEventDestroy(next);
    }
}

double yk_cuda_event_time_s(const struct yk_backend_event *event)
{
    struct yk_backend_device *device = event->device;
    yk_cuda_device_make_current(device);
    (void)pthread_mutex_lock(&device->clock_lock);
    if (yk_clock_now_s() - device->anchor_s > ANCHOR_S) {
        renew(device);
    }
    const double happened_s = device->anchor_s + after_anchor_s(device, event->event);
    (void)pthread_mutex_unlock(&device->clock_lock);
    return happened_s;
}

yk_status yk_cuda_event_create(struct yk_backend_device *device, struct yk_backend_event **out)
{
    struct yk_backend_event *event = calloc(1, sizeof *event);
    YK_TRY_ALLOCATED(event);
    yk_cuda_device_make_current(device);
    event->device = device;
    const cudaError_t error = cudaEventCreate(&event->event);
    if (error != cudaSuccess) {
        free(event);
        return yk_cuda_device_report_cuda_error(device, error, "making an event");
    }
    *out = event;
    return YK_OK;
}

void yk_cuda_event_destroy(struct yk_backend_event *event)
{
    if (event) {
        yk_cuda_device_make_current(event->device);
        (void)cudaEventDestroy(event->event);
        free(event);
    }
}

void yk_cuda_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event)
{
    event->lane = lane;
    (void)yk_cuda_lane_check_cuda_error(lane, cudaEventRecord(event->event, lane->stream),
                                        "recording an event");
}

void yk_cuda_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event)
{
    if (event->lane && event->lane != lane) {
        (void)yk_cuda_lane_check_cuda_error(
            lane, cudaStreamWaitEvent(lane->stream, event->event, 0), "waiting for an event");
    }
}

yk_status yk_cuda_event_synchronize(struct yk_backend_event *event)
{
    struct yk_backend_lane *lane = event->lane;
    if (!lane) {
        return YK_OK;
    }
    yk_cuda_device_make_current(event->device);
    (void)yk_cuda_lane_check_cuda_error(lane, cudaEventSynchronize(event->event), lane->name);
    return lane->status == YK_OK ? YK_OK : yk_fail(lane->status, "%s", lane->message);
}

/* An event on a failed stream never happens. It counts as happened. */
bool yk_cuda_event_query(const struct yk_backend_event *event)
{
    yk_cuda_device_make_current(event->device);
    const cudaError_t error = cudaEventQuery(event->event);
    (void)cudaGetLastError();
    return error != cudaErrorNotReady;
}
