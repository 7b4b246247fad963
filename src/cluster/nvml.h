/*
 * NVML: reads information about GPUs from the NVIDIA Management Library, which is part of the
 * driver. The library is loaded on demand and stays loaded. Its functions are in a table, so that
 * tests can replace them. Not thread-safe.
 */
#ifndef YK_CLUSTER_NVML_H
#define YK_CLUSTER_NVML_H

#include <stdbool.h>

enum {
    YK_NVML_NAME_SIZE = 96,
};

/* Constants of nvml.h. GPM is NVML's GPU performance monitoring. */
enum {
    YK_NVML_CLOCK_SM = 1, /* nvmlClockType_t */
    YK_NVML_PCIE_OUT = 0, /* nvmlPcieUtilCounter_t: bytes that the GPU sends */
    YK_NVML_PCIE_IN = 1,
    YK_NVML_FIELD_NVLINK_OUT = 138, /* total KiB so far */
    YK_NVML_FIELD_NVLINK_IN = 139,
    YK_NVML_FIELD_POWER = 186, /* mW at this moment; nvmlDeviceGetPowerUsage() is a mean of 1 s */
    YK_NVML_GPM_VERSION = 1,   /* version of nvmlGpmSupport_t and nvmlGpmMetricsGet_t */
    YK_NVML_GPM_SM = 2,        /* nvmlGpmMetricId_t, in percent */
    YK_NVML_GPM_OCCUPANCY = 3,
    YK_NVML_GPM_TENSOR = 5,
    YK_NVML_GPM_DRAM = 10,
    YK_NVML_GPM_PCIE_OUT = 20, /* MiB per second */
    YK_NVML_GPM_PCIE_IN = 21,
    YK_NVML_GPM_NVLINK_IN = 60,
    YK_NVML_GPM_NVLINK_OUT = 61,
    YK_NVML_MAX_GPM_METRICS = 333, /* NVML_GPM_METRIC_MAX; older libraries have fewer */
};

/* nvmlFieldValue_t. */
struct yk_nvml_field_value {
    unsigned id;
    unsigned scope; /* UINT_MAX means: all NVLink links */
    long long at_us;
    long long took_us;
    unsigned type; /* nvmlValueType_t */
    int status;
    union {
        double number;
        unsigned word;
        unsigned long long wide;
    } value;
};

/* nvmlGpmSupport_t. */
struct yk_nvml_gpm_support {
    unsigned version;
    unsigned supported;
};

/* Metrics between two samples (nvmlGpmMetricsGet_t). */
struct yk_nvml_gpm_metrics {
    unsigned version;
    unsigned count;
    void *before; /* the two samples */
    void *after;
    struct yk_nvml_gpm_metric {
        unsigned id;
        int status;
        double value;
        char *names[3]; /* short name, long name, unit */
    } metrics[YK_NVML_MAX_GPM_METRICS];
};

/* nvmlMemory_t. */
struct yk_nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

enum {
    YK_NVML_UUID_SIZE = 80,
    YK_NVML_MAX_MIG_INSTANCES = 8,
};

/* The resources of a MIG instance (nvmlDeviceAttributes_t). */
struct yk_nvml_mig_attributes {
    unsigned multiprocessors;
    unsigned shared_engines[5];
    unsigned gpu_slices;
    unsigned compute_slices;
    unsigned long long memory_mib;
};

/* The functions of NVML that yoke uses. They return 0 if they succeed. The functions after
 * `capability` are NULL if the driver is too old to have them. */
struct yk_nvml_functions {
    int (*begin)(void);
    int (*count)(unsigned *out);
    int (*handle)(unsigned index, void **out);
    int (*name)(void *device, char *out, unsigned size);
    int (*memory)(void *device, struct yk_nvml_memory *out);
    int (*capability)(void *device, int *major, int *minor);
    int (*pcie_generation)(void *device, unsigned *out);
    int (*pcie_width)(void *device, unsigned *out);
    int (*clock_now)(void *device, unsigned domain, unsigned *mhz);
    int (*power)(void *device, unsigned *milliwatts);
    int (*pcie_traffic)(void *device, unsigned counter, unsigned *kilobytes_per_s); /* over 20 ms */
    int (*fields)(void *device, int count, struct yk_nvml_field_value *fields);
    int (*by_uuid)(const char *uuid, void **out);
    int (*instance_number)(void *instance, unsigned *out);
    int (*gpm_support)(void *device, struct yk_nvml_gpm_support *out);
    int (*gpm_alloc)(void **sample);
    int (*gpm_free)(void *sample);
    int (*gpm_sample)(void *device, void *sample);
    int (*gpm_instance_sample)(void *device, unsigned instance, void *sample);
    int (*gpm_metrics)(struct yk_nvml_gpm_metrics *out);
    int (*nvlink_state)(void *device, unsigned link, unsigned *active);
    int (*mig_mode)(void *device, unsigned *current, unsigned *pending);
    int (*cores)(void *device, unsigned *out);
    int (*clock)(void *device, unsigned domain, unsigned *mhz);
    int (*memory_bus_width)(void *device, unsigned *bits);
    int (*uuid)(void *device, char *out, unsigned size);
    int (*instance)(void *device, unsigned index, void **out);
    int (*attributes)(void *instance, struct yk_nvml_mig_attributes *out);
};

/* A MIG instance: a part of a GPU that programs see as a device of its own. */
struct yk_nvml_mig_instance {
    char uuid[YK_NVML_UUID_SIZE];
    double memory_bytes;
    int sm_count;
};

/* A GPU. A member is 0 if the driver does not report it. */
struct yk_nvml_gpu {
    char name[YK_NVML_NAME_SIZE];
    double memory_bytes;
    int capability_major; /* CUDA compute capability */
    int capability_minor;
    int sm_count;
    int pcie_generation; /* highest generation that both GPU and slot support */
    int pcie_width;
    int nvlink_count; /* number of active NVLink links */
    int instance_count;
    bool mig; /* MIG mode is enabled */
    double fp32_flops;
    double memory_bytes_per_s;
    char uuid[YK_NVML_UUID_SIZE]; /* "GPU-8932f937-…" */
    struct yk_nvml_mig_instance instances[YK_NVML_MAX_MIG_INSTANCES];
};

/* Loads the library. Returns false if it is not installed. */
bool yk_nvml_load_library(struct yk_nvml_functions *out);

/* Lists up to `capacity` GPUs. Returns their number, or -1 if the driver does not answer. */
int yk_nvml_list_gpus(const struct yk_nvml_functions *nvml, struct yk_nvml_gpu *out, int capacity);

#endif
