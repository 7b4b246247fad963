/*
 * Memory of the device, and pinned memory of the host.
 *
 * Memory in use by this process: CUDA reports only the free memory of the whole GPU. Under MPS with
 * a memory limit, the free memory is that of this process, and the total is that of the GPU.
 * Without a limit, NVML's list of processes has the usage of each process, if there are several.
 */
#include "backend/cuda/device.h"

#include <string.h>
#include <unistd.h>

static yk_status refuse(const struct yk_backend_device *device, size_t bytes)
{
    size_t unused = 0;
    size_t all = 0;
    (void)cudaGetLastError(); /* clears the error, which the next call would report */
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
    yk_cuda_device_make_current(device);
    void *memory = NULL;
    const size_t asked = bytes > 0 ? bytes : 1;
    cudaError_t error = cudaMalloc(&memory, asked);
    if (error == cudaErrorMemoryAllocation) {
        return refuse(device, bytes);
    }
    YK_CUDA_CALL_UNLESS_FAILED(error, cudaMemset(memory, 0, asked));
    /* Lanes do not wait for the memset, and a lane in capture must not be synchronized. */
    YK_CUDA_CALL_UNLESS_FAILED(error, cudaStreamSynchronize(cudaStreamLegacy));
    if (error != cudaSuccess) {
        (void)cudaFree(memory);
        return yk_cuda_device_report_cuda_error(device, error, "taking memory");
    }
    *out = memory;
    return YK_OK;
}

void yk_cuda_memory_free(struct yk_backend_device *device, void *memory)
{
    if (memory) {
        yk_cuda_device_make_current(device);
        (void)cudaFree(memory);
    }
}

yk_status yk_cuda_memory_allocate_host(struct yk_backend_device *device, size_t bytes, void **out)
{
    yk_cuda_device_make_current(device);
    void *memory = NULL;
    const size_t asked = bytes > 0 ? bytes : 1;
    const cudaError_t error = cudaHostAlloc(&memory, asked, cudaHostAllocPortable);
    if (error != cudaSuccess) {
        return yk_cuda_device_report_cuda_error(device, error, "taking memory of the host");
    }
    memset(memory, 0, asked);
    *out = memory;
    return YK_OK;
}

void yk_cuda_memory_free_host(struct yk_backend_device *device, void *memory)
{
    if (memory) {
        yk_cuda_device_make_current(device);
        (void)cudaFreeHost(memory);
    }
}

bool yk_cuda_memory_is_device_memory(const struct yk_backend_device *device, const void *memory)
{
    struct cudaPointerAttributes about;
    yk_cuda_device_make_current(device);
    if (cudaPointerGetAttributes(&about, memory) != cudaSuccess) {
        (void)cudaGetLastError(); /* CUDA does not know this pointer: host memory */
        return false;
    }
    return about.type == cudaMemoryTypeDevice;
}

/* ---- how much is used ---- */

enum {
    MAX_PROCESSES = 256,
};

static const unsigned long long unknown_bytes = ~0ULL;

/* nvmlProcessInfo_v2_t. */
struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
};

struct listed {
    unsigned long long own_bytes;
    unsigned long long other_bytes;
};

/* Adds the entries of one list of NVML. */
static void read_list(const struct yk_cuda_nvml *driver, const char *name, struct listed *out)
{
    int (*list)(void *, unsigned *, struct process *) = NULL;
    struct process processes[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES;
    if (!yk_cuda_nvml_find_function(driver, name, &list) ||
        list(driver->gpu, &count, processes) != 0) {
        return;
    }
    const unsigned own = (unsigned)getpid();
    for (unsigned i = 0; i < count; i++) {
        const unsigned long long bytes =
            processes[i].bytes == unknown_bytes ? 0 : processes[i].bytes;
        if (processes[i].pid == own) {
            out->own_bytes = bytes > out->own_bytes ? bytes : out->own_bytes;
        } else {
            out->other_bytes += bytes;
        }
    }
}

static struct listed read_driver(const struct yk_backend_device *device)
{
    struct yk_cuda_nvml driver;
    struct listed listed = {0, 0};
    if (yk_cuda_nvml_open(device, &driver) && driver.gpu) {
        read_list(&driver, "nvmlDeviceGetComputeRunningProcesses_v3", &listed);
        read_list(&driver, "nvmlDeviceGetMPSComputeRunningProcesses_v3", &listed);
    }
    return listed;
}

size_t yk_cuda_memory_used_bytes(struct yk_backend_device *device)
{
    size_t unused = 0;
    size_t all = 0;
    yk_cuda_device_make_current(device);
    if (cudaMemGetInfo(&unused, &all) != cudaSuccess) {
        return 0;
    }
    const size_t allowed = device->allowed_bytes;
    if (allowed > 0 && allowed <= all && unused <= allowed) {
        return allowed - unused;
    }
    const struct listed listed = read_driver(device);
    return listed.own_bytes > 0 && listed.other_bytes > 0 ? (size_t)listed.own_bytes : all - unused;
}
