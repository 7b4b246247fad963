/*
 * NVML: what NVIDIA's driver knows of a GPU besides CUDA. The library is loaded at first use and
 * stays loaded: others use it.
 */
#ifndef YK_BACKEND_CUDA_NVML_H
#define YK_BACKEND_CUDA_NVML_H

#include "backend/cuda/device.h"

struct yk_cuda_nvml {
    void *library;
    void *gpu; /* NULL where it is not found */
};

/* False where the driver does not answer. The GPU is found by its place on the bus: the driver's
 * numbers need not be CUDA's. */
bool yk_cuda_nvml_open(const struct yk_backend_device *device, struct yk_cuda_nvml *out);

/* Where the library has a function of this name, `function` is set to it. */
bool yk_cuda_nvml_find(const struct yk_cuda_nvml *driver, const char *name, void *function);

#endif
