#include "backend/cuda/lane.h"

#include "backend/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cudaStream_t yk_cuda_lane_stream(const struct yk_backend_lane *lane)
{
    return lane->stream;
}

const struct yk_cuda_device_properties *
yk_cuda_lane_device_properties(const struct yk_backend_lane *lane)
{
    return &lane->device->properties;
}

/* ---- failures ---- */

bool yk_cuda_lane_is_ok(const struct yk_backend_lane *lane)
{
    return lane->status == YK_OK;
}

void yk_cuda_lane_store_failure(struct yk_backend_lane *lane, const char *message)
{
    if (lane->status == YK_OK) {
        lane->status = YK_ERROR_SYSTEM;
        (void)snprintf(lane->message, sizeof lane->message, "GPU %d (%s): %s",
                       (int)lane->device->number, lane->device->name, message);
    }
}

bool yk_cuda_lane_check_cuda_error(struct yk_backend_lane *lane, cudaError_t error,
                                   const char *action)
{
    if (error != cudaSuccess) {
        char message[YK_CUDA_ERROR_TEXT_SIZE];
        (void)snprintf(message, sizeof message, "%s: %s", action, cudaGetErrorString(error));
        yk_cuda_lane_store_failure(lane, message);
    }
    return lane->status == YK_OK;
}

/* ---- scratch ---- */

static bool grow(struct yk_backend_lane *lane, size_t bytes)
{
    /* Ops on the lane may still use the old memory. */
    if (!yk_cuda_lane_check_cuda_error(lane, cudaStreamSynchronize(lane->stream),
                                       "waiting for scratch memory")) {
        return false;
    }
    (void)cudaFree(lane->scratch);
    lane->scratch = NULL;
    lane->scratch_bytes = 0;
    const size_t wanted = bytes > YK_CUDA_MIN_SCRATCH_BYTES ? bytes : YK_CUDA_MIN_SCRATCH_BYTES;
    if (cudaMalloc(&lane->scratch, wanted) != cudaSuccess) {
        char message[YK_CUDA_ERROR_TEXT_SIZE];
        (void)cudaGetLastError();
        (void)snprintf(message, sizeof message,
                       "%.1f MiB of scratch memory are not free; use a smaller batch or --memory",
                       (double)wanted / (1024 * 1024));
        yk_cuda_lane_store_failure(lane, message);
        return false;
    }
    lane->scratch_bytes = wanted;
    return true;
}

void *yk_cuda_lane_get_scratch(struct yk_backend_lane *lane, size_t bytes)
{
    const bool fits = lane->scratch && lane->scratch_bytes >= bytes;
    return lane->status == YK_OK && (fits || grow(lane, bytes)) ? lane->scratch : NULL;
}

static yk_status report(const struct yk_backend_lane *lane)
{
    return lane->status == YK_OK ? YK_OK : yk_fail(lane->status, "%s", lane->message);
}

yk_status yk_cuda_lane_reserve_scratch(struct yk_backend_lane *lane, size_t bytes)
{
    yk_cuda_device_make_current(lane->device);
    (void)yk_cuda_lane_get_scratch(lane, bytes);
    return report(lane);
}

/* ---- lanes ---- */

yk_status yk_cuda_lane_create(struct yk_backend_device *device, const char *name,
                              struct yk_backend_lane **out)
{
    struct yk_backend_lane *lane = calloc(1, sizeof *lane);
    YK_TRY_ALLOCATED(lane);
    yk_cuda_device_make_current(device);
    lane->device = device;
    (void)snprintf(lane->name, sizeof lane->name, "%s", name);
    /* High priority: communication must not wait for compute kernels. */
    int min = 0;
    int max = 0;
    (void)cudaDeviceGetStreamPriorityRange(&min, &max);
    const cudaError_t error = cudaStreamCreateWithPriority(&lane->stream, cudaStreamNonBlocking,
                                                           strcmp(name, "comm") == 0 ? max : min);
    if (error != cudaSuccess) {
        free(lane);
        return yk_cuda_device_report_cuda_error(device, error, "making a stream");
    }
    *out = lane;
    return YK_OK;
}

void yk_cuda_lane_destroy(struct yk_backend_lane *lane)
{
    if (!lane) {
        return;
    }
    yk_cuda_device_make_current(lane->device);
    (void)cudaStreamSynchronize(lane->stream);
    for (int i = 0; i < YK_CUDA_SIDE_STREAM_COUNT && lane->sides[i]; i++) {
        yk_cuda_lane_destroy(lane->sides[i]);
        (void)cudaEventDestroy(lane->joins[i]);
    }
    if (lane->fork) {
        (void)cudaEventDestroy(lane->fork);
    }
    (void)cudaFree(lane->scratch);
    (void)cudaStreamDestroy(lane->stream);
    free(lane);
}

void *yk_cuda_lane_native_stream(const struct yk_backend_lane *lane, int32_t *number)
{
    *number = lane->device->number;
    return lane->stream;
}

yk_status yk_cuda_lane_synchronize(struct yk_backend_lane *lane)
{
    yk_cuda_device_make_current(lane->device);
    (void)yk_cuda_lane_check_cuda_error(lane, cudaStreamSynchronize(lane->stream), lane->name);
    return report(lane);
}

void yk_cuda_lane_enqueue_copy(struct yk_backend_lane *lane, void *to, const void *from,
                               size_t bytes)
{
    if (lane->status == YK_OK && bytes > 0) {
        (void)yk_cuda_lane_check_cuda_error(
            lane, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, lane->stream), "copying");
    }
}

void yk_cuda_lane_enqueue_clear(struct yk_backend_lane *lane, void *memory, size_t bytes)
{
    if (lane->status == YK_OK && bytes > 0) {
        (void)yk_cuda_lane_check_cuda_error(lane, cudaMemsetAsync(memory, 0, bytes, lane->stream),
                                            "clearing");
    }
}

void yk_cuda_lane_enqueue_host_call(struct yk_backend_lane *lane, void (*function)(void *user),
                                    void *user)
{
    if (lane->status == YK_OK) {
        (void)yk_cuda_lane_check_cuda_error(lane, cudaLaunchHostFunc(lane->stream, function, user),
                                            "calling the host");
    }
}
