/*
 * Held: how much of a GPU's memory this process has.
 *
 * CUDA counts what is free of the GPU, whoever uses the rest. Under MPS with a limit of memory what
 * is free is what this process has left of its own, while the whole stays that of the GPU; without
 * one the driver's list of processes tells who has what, as long as there are several.
 */
#include "backend/cuda/nvml.h"

#include <unistd.h>

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

/* Adds what one of the driver's lists says. */
static void read_list(const struct yk_cuda_nvml *driver, const char *name, struct listed *out)
{
    int (*list)(void *, unsigned *, struct process *) = NULL;
    struct process processes[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES;
    if (!yk_cuda_nvml_find(driver, name, &list) || list(driver->gpu, &count, processes) != 0) {
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

size_t yk_cuda_memory_used(struct yk_backend_device *device)
{
    size_t unused = 0;
    size_t all = 0;
    yk_cuda_device_set(device);
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
