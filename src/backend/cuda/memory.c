/* Memory of the device, and of the host where copies to and from the device are fast. */
#include "backend/cuda/device.h"

static yk_status refuse(const struct yk_backend_device *device, size_t bytes)
{
    size_t unused = 0;
    size_t all = 0;
    (void)cudaGetLastError(); /* the refusal is told here, and not by the next call */
    if (cudaMemGetInfo(&unused, &all) != cudaSuccess) {
        unused = 0;
        all = device->memory_bytes;
    }
    all = device->allowed_bytes > 0 && device->allowed_bytes < all ? device->allowed_bytes : all;
    return yk_fail(YK_ERROR_NO_FIT,
                   "GPU %d (%s) has %.1f MiB of %.1f MiB free, and %.1f MiB were asked for; use a "
                   "smaller batch, --memory, or --recompute",
                   (int)device->number, device->name, (double)unused / (1024 * 1024),
                   (double)all / (1024 * 1024), (double)bytes / (1024 * 1024));
}

yk_status yk_cuda_memory_allocate(struct yk_backend_device *device, size_t bytes, void **out)
{
    yk_cuda_device_set(device);
    void *memory = NULL;
    const size_t asked = bytes > 0 ? bytes : 1;
    cudaError_t error = cudaMalloc(&memory, asked);
    if (error == cudaErrorMemoryAllocation) {
        return refuse(device, bytes);
    }
    if (error == cudaSuccess) {
        error = cudaMemset(memory, 0, asked);
    }
    if (error == cudaSuccess) {
        /* Lanes do not wait for what clears it. They may not be waited for: one could be captured.
         */
        error = cudaStreamSynchronize(cudaStreamLegacy);
    }
    if (error != cudaSuccess) {
        (void)cudaFree(memory);
        return yk_cuda_device_fail(device, error, "taking memory");
    }
    *out = memory;
    return YK_OK;
}

void yk_cuda_memory_free(struct yk_backend_device *device, void *memory)
{
    if (memory) {
        yk_cuda_device_set(device);
        (void)cudaFree(memory);
    }
}

yk_status yk_cuda_memory_allocate_host(struct yk_backend_device *device, size_t bytes, void **out)
{
    yk_cuda_device_set(device);
    void *memory = NULL;
    const size_t asked = bytes > 0 ? bytes : 1;
    const cudaError_t error = cudaHostAlloc(&memory, asked, cudaHostAllocPortable);
    if (error != cudaSuccess) {
        return yk_cuda_device_fail(device, error, "taking memory of the host");
    }
    char *all = memory;
    for (size_t i = 0; i < asked; i++) {
        all[i] = 0;
    }
    *out = memory;
    return YK_OK;
}

void yk_cuda_memory_free_host(struct yk_backend_device *device, void *memory)
{
    if (memory) {
        yk_cuda_device_set(device);
        (void)cudaFreeHost(memory);
    }
}

bool yk_cuda_memory_contains(const struct yk_backend_device *device, const void *memory)
{
    struct cudaPointerAttributes about;
    yk_cuda_device_set(device);
    if (cudaPointerGetAttributes(&about, memory) != cudaSuccess) {
        (void)cudaGetLastError(); /* memory that CUDA has never heard of is the host's */
        return false;
    }
    return about.type == cudaMemoryTypeDevice;
}
