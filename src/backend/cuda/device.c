#include "backend/cuda/device.h"

#include "backend/cuda/kernels.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SPARED = 12, /* at most one SM of so many is left free for communication */
};

yk_status yk_cuda_device_report_cuda_error(const struct yk_backend_device *device,
                                           cudaError_t error, const char *action)
{
    const bool lost = error == cudaErrorDevicesUnavailable || error == cudaErrorNoDevice ||
                      error == cudaErrorECCUncorrectable;
    return yk_fail(lost ? YK_ERROR_LOST : YK_ERROR_SYSTEM, "GPU %d (%s), %s: %s",
                   (int)device->number, device->name, action, cudaGetErrorString(error));
}

void yk_cuda_device_make_current(const struct yk_backend_device *device)
{
    (void)cudaSetDevice(device->number);
}

yk_status yk_cuda_device_check_exists(int32_t number)
{
    int count = 0;
    int driver = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
        return driver == 0
                   ? yk_fail(YK_ERROR_SYSTEM, "no GPU can be used here: there is no NVIDIA driver")
                   : yk_fail(YK_ERROR_SYSTEM,
                             "no GPU can be used here: the driver is for CUDA %d.%d, yoke was "
                             "built with %d.%d; install a newer driver",
                             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                             CUDART_VERSION % 1000 / 10);
    }
    if (error != cudaSuccess || count == 0) {
        return yk_fail(YK_ERROR_SYSTEM, "no GPU can be used here: %s",
                       error == cudaSuccess ? "the driver finds none" : cudaGetErrorString(error));
    }
    if (number < 0 || number >= count) {
        return yk_fail(YK_ERROR_INPUT, "there is no GPU %d here: they are numbered from 0 to %d",
                       (int)number, count - 1);
    }
    return YK_OK;
}

/* A kernel that fills all SMs needs a second wave while a communication kernel holds some of them.
 */
static yk_status read_spare(int32_t processors, int32_t comm_sm_count, int32_t *out)
{
    const char *words = getenv("YOKE_SPARE_SMS");
    int64_t spare = comm_sm_count * MAX_SPARED <= processors ? comm_sm_count : 0;
    if (words && *words &&
        (!yk_number_parse_integer(words, strlen(words), &spare) || spare < 0 ||
         spare >= processors)) {
        return yk_fail(YK_ERROR_INPUT,
                       "YOKE_SPARE_SMS=%s must be a whole number from 0 to %d: how many of the "
                       "GPU's %d SMs are left to messages",
                       words, (int)processors - 1, (int)processors);
    }
    *out = (int32_t)spare;
    return YK_OK;
}

static bool is_part(void)
{
    const char *percent = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    return percent && strtod(percent, NULL) < 100;
}

yk_status yk_cuda_device_read_properties(struct yk_backend_device *device, int32_t comm_sm_count)
{
    struct cudaDeviceProp attributes;
    int32_t code_capability = 0;
    cudaError_t error = cudaGetDeviceProperties(&attributes, device->number);
    YK_CUDA_CALL_UNLESS_FAILED(error, yk_cuda_code_capability_get(&code_capability));
    if (error != cudaSuccess) {
        return yk_cuda_device_report_cuda_error(device, error, "asking what it is");
    }
    (void)snprintf(device->name, sizeof device->name, "%s", attributes.name);
    device->memory_bytes = attributes.totalGlobalMem;
    int32_t spare = 0;
    if (comm_sm_count > 0) {
        YK_TRY(read_spare(attributes.multiProcessorCount, comm_sm_count, &spare));
    }
    device->properties = (struct yk_cuda_device_properties){
        .processors = attributes.multiProcessorCount - spare,
        .spare = spare,
        .capability = attributes.major * 10 + attributes.minor,
        .code_capability = code_capability,
        .is_part = is_part(),
        .shared_bytes = attributes.sharedMemPerBlockOptin,
        .cache_bytes = (size_t)attributes.l2CacheSize,
    };
    return YK_OK;
}

void yk_cuda_device_append_description(const struct yk_backend_device *device, struct yk_text *out)
{
    yk_text_addf(out, "%s, %.1f GiB, compute capability %d.%d", device->name,
                 (double)device->memory_bytes / (1024.0 * 1024 * 1024),
                 (int)device->properties.capability / 10, (int)device->properties.capability % 10);
}
