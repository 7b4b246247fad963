/* Versions: the driver, libraries, limits and options on which times on a GPU depend. */
#include "backend/cuda/device.h"

#ifndef YK_NO_CUDNN
#include <cudnn.h>
#endif

enum {
    DRIVER_SIZE = 80,
    CLOCK_SM = 1, /* nvmlClockType_t */
};

/* Values from NVML; 0 or "" means: not available. */
struct limits {
    char driver[DRIVER_SIZE];
    unsigned clock_mhz;
    unsigned power_mw;
};

/* The application clock if one is set, else the maximum clock. */
static unsigned read_clock(const struct yk_cuda_nvml *driver)
{
    static const char *const names[] = {"nvmlDeviceGetApplicationsClock",
                                        "nvmlDeviceGetMaxCustomerBoostClock",
                                        "nvmlDeviceGetMaxClockInfo"};
    int (*ask)(void *, unsigned, unsigned *) = NULL;
    unsigned mhz = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && mhz == 0; i++) {
        if (yk_cuda_nvml_find_function(driver, names[i], &ask) &&
            ask(driver->gpu, CLOCK_SM, &mhz) != 0) {
            mhz = 0;
        }
    }
    return mhz;
}

static void read_driver(const struct yk_backend_device *device, struct limits *out)
{
    int (*read_version)(char *, unsigned) = NULL;
    int (*read_power)(void *, unsigned *) = NULL;
    struct yk_cuda_nvml driver;
    if (!yk_cuda_nvml_open(device, &driver)) {
        return;
    }
    if (!yk_cuda_nvml_find_function(&driver, "nvmlSystemGetDriverVersion", &read_version) ||
        read_version(out->driver, DRIVER_SIZE) != 0) {
        out->driver[0] = '\0';
    }
    if (driver.gpu) {
        out->clock_mhz = read_clock(&driver);
        if (yk_cuda_nvml_find_function(&driver, "nvmlDeviceGetPowerManagementLimit", &read_power) &&
            read_power(driver.gpu, &out->power_mw) != 0) {
            out->power_mw = 0;
        }
    }
}

static void add_driver(const struct limits *limits, struct yk_text *out)
{
    int version = 0;
    if (limits->driver[0] != '\0') {
        yk_text_addf(out, "driver %s", limits->driver);
    } else if (cudaDriverGetVersion(&version) == cudaSuccess) {
        yk_text_addf(out, "driver for CUDA %d.%d", version / 1000, version % 1000 / 10);
    }
}

static void add_libraries(struct yk_text *out)
{
    const size_t products = cublasLtGetVersion();
    yk_text_addf(out, ", cuBLASLt %zu.%zu.%zu", products / 10000, products / 100 % 100,
                 products % 100);
#ifndef YK_NO_CUDNN
    const size_t attention = cudnnGetVersion();
    yk_text_addf(out, ", cuDNN %zu.%zu.%zu", attention / 10000, attention / 100 % 100,
                 attention % 100);
#endif
}

void yk_cuda_versions_append(const struct yk_backend_device *device, struct yk_text *out)
{
    static const char *const attention[] = {
        [YK_CUDA_ATTENTION_BEST] = "",
        [YK_CUDA_ATTENTION_CUDNN] = ", attention by cuDNN",
        [YK_CUDA_ATTENTION_BUILTIN] = ", attention by own kernels",
    };
    struct limits limits = {0};
    read_driver(device, &limits);
    add_driver(&limits, out);
    add_libraries(out);
    if (limits.clock_mhz > 0) {
        yk_text_addf(out, ", %u MHz", limits.clock_mhz);
    }
    if (limits.power_mw > 0) {
        yk_text_addf(out, ", %.0f W", limits.power_mw / 1e3);
    }
    yk_text_add(out, attention[device->attention_choice]);
    yk_text_add(out, device->side_streams ? ", side streams" : "");
    yk_text_add(out, device->graphs ? ", graphs" : "");
    if (device->properties.spare > 0) {
        yk_text_addf(out, ", %d SMs spared", (int)device->properties.spare);
    }
    yk_text_addf(out, ", code %s", yk_code_cuda);
}
