#include "backend/cuda/device.h"

#include <dlfcn.h>
#include <string.h>

enum {
    BUS_SIZE = 32,
};

bool yk_cuda_nvml_find_function(const struct yk_cuda_nvml *driver, const char *name, void *function)
{
    /* Copied as bytes: C has no cast from an object's pointer to a function's. */
    void *symbol = dlsym(driver->library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool yk_cuda_nvml_open(const struct yk_backend_device *device, struct yk_cuda_nvml *out)
{
    int (*begin)(void) = NULL;
    int (*read_handle)(const char *, void **) = NULL;
    char bus[BUS_SIZE];
    *out = (struct yk_cuda_nvml){dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), NULL};
    if (!out->library || !yk_cuda_nvml_find_function(out, "nvmlInit_v2", &begin) || begin() != 0) {
        return false;
    }
    if (!yk_cuda_nvml_find_function(out, "nvmlDeviceGetHandleByPciBusId_v2", &read_handle) ||
        cudaDeviceGetPCIBusId(bus, BUS_SIZE, device->number) != cudaSuccess ||
        read_handle(bus, &out->gpu) != 0) {
        out->gpu = NULL;
    }
    return true;
}
