/*
 * NVML: what NVIDIA's driver reports about the GPUs of this machine. Its library is loaded on
 * demand and stays loaded. Its functions stand in a table, so that a test can replace them. One
 * thread at a time.
 */
#ifndef YK_CLUSTER_NVML_H
#define YK_CLUSTER_NVML_H

#include <stdbool.h>

enum {
    YK_NVML_NAME_SIZE = 96,
};

/* What the library knows by number. */
enum {
    YK_NVML_CLOCK_SM = 1, /* nvmlClockType_t */
    YK_NVML_PCIE_OUT = 0, /* nvmlPcieUtilCounter_t, as the GPU sees it */
    YK_NVML_PCIE_IN = 1,
    YK_NVML_FIELD_NVLINK_OUT = 138, /* KiB so far */
    YK_NVML_FIELD_NVLINK_IN = 139,
    YK_NVML_FIELD_POWER = 186, /* mW now; nvmlDeviceGetPowerUsage() is a second's average */
    YK_NVML_GPM_VERSION = 1,   /* of both structures */
    YK_NVML_GPM_SM = 2,        /* nvmlGpmMetricId_t: percent */
    YK_NVML_GPM_OCCUPANCY = 3,
    YK_NVML_GPM_TENSOR = 5,
    YK_NVML_GPM_DRAM = 10,
    YK_NVML_GPM_PCIE_OUT = 20, /* MiB a second */
    YK_NVML_GPM_PCIE_IN = 21,
    YK_NVML_GPM_NVLINK_IN = 60,
    YK_NVML_GPM_NVLINK_OUT = 61,
    YK_NVML_MAX_GPM_METRICS = 333, /* NVML_GPM_METRIC_MAX, which has only ever grown */
};

/* A value asked for by its number (nvmlFieldValue_t). */
struct yk_nvml_field {
    unsigned id;
    unsigned scope; /* UINT_MAX: all links of NVLink */
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

/* What happened between two samples (nvmlGpmMetricsGet_t). */
struct yk_nvml_gpm {
    unsigned version;
    unsigned count;
    void *before; /* samples */
    void *after;
    struct yk_nvml_gpm_metric {
        unsigned id;
        int status;
        double value;
        char *names[3]; /* short and long name, unit */
    } metrics[YK_NVML_MAX_GPM_METRICS];
};

/* As the library fills it in. */
struct yk_nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

enum {
    YK_NVML_UUID_SIZE = 80,
    YK_NVML_MAX_INSTANCES = 8,
};

/* What an instance has, as the library fills it in. */
struct yk_nvml_attributes {
    unsigned multiprocessors;
    unsigned shared_engines[5];
    unsigned gpu_slices;
    unsigned compute_slices;
    unsigned long long memory_mib;
};

/* The functions used, each as the library declares it: 0 is success. Those past `capability` may be
 * NULL, where a driver is too old to have them. */
struct yk_nvml {
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
    int (*pcie_traffic)(void *device, unsigned counter, unsigned *kilobytes_per_s); /* in 20 ms */
    int (*fields)(void *device, int count, struct yk_nvml_field *fields);
    int (*by_uuid)(const char *uuid, void **out);
    int (*instance_number)(void *instance, unsigned *out);
    int (*gpm_support)(void *device, struct yk_nvml_gpm_support *out);
    int (*gpm_alloc)(void **sample);
    int (*gpm_free)(void *sample);
    int (*gpm_sample)(void *device, void *sample);
    int (*gpm_instance_sample)(void *device, unsigned instance, void *sample);
    int (*gpm_metrics)(struct yk_nvml_gpm *out);
    int (*nvlink_state)(void *device, unsigned link, unsigned *active);
    int (*mig_mode)(void *device, unsigned *current, unsigned *pending);
    int (*cores)(void *device, unsigned *out);
    int (*clock)(void *device, unsigned domain, unsigned *mhz);
    int (*memory_bus_width)(void *device, unsigned *bits);
    int (*uuid)(void *device, char *out, unsigned size);
    int (*instance)(void *device, unsigned index, void **out);
    int (*attributes)(void *instance, struct yk_nvml_attributes *out);
};

/* A part that MIG has cut off a GPU. */
struct yk_nvml_instance {
    char uuid[YK_NVML_UUID_SIZE];
    double memory_bytes;
    int sm_count;
};

/* A GPU; 0 stands for what the driver did not tell. */
struct yk_nvml_gpu {
    char name[YK_NVML_NAME_SIZE];
    double memory_bytes;
    int capability_major; /* CUDA compute capability */
    int capability_minor;
    int sm_count;
    int pcie_generation; /* the most that GPU and slot can do together */
    int pcie_width;
    int nvlink_count; /* links that are up */
    int instance_count;
    bool mig; /* cut into instances */
    double fp32_flops;
    double memory_bytes_per_s;
    char uuid[YK_NVML_UUID_SIZE]; /* "GPU-8932f937-…" */
    struct yk_nvml_instance instances[YK_NVML_MAX_INSTANCES];
};

/* Loads the driver's library. False without one. */
bool yk_nvml_load(struct yk_nvml *out);

/* Finds up to `capacity` GPUs and returns how many; -1 when the driver does not answer. */
int yk_nvml_find(const struct yk_nvml *nvml, struct yk_nvml_gpu *out, int capacity);

#endif
