/*
 * NVML: what NVIDIA's driver tells about the GPUs of this machine.
 *
 * The driver's library is loaded when it is asked for, and stays loaded. The functions used of it
 * stand in a table, so that a test can put others in their place. One thread at a time.
 */
#ifndef YK_CLUSTER_NVML_H
#define YK_CLUSTER_NVML_H

#include <stdbool.h>

enum {
    YK_NVML_NAME_SIZE = 96,
};

/* As the library fills it in. */
struct yk_nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
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
    int (*nvlink_state)(void *device, unsigned link, unsigned *active);
    int (*mig_mode)(void *device, unsigned *current, unsigned *pending);
    int (*cores)(void *device, unsigned *out);
    int (*clock)(void *device, unsigned domain, unsigned *mhz);
    int (*memory_bus_width)(void *device, unsigned *bits);
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
    bool mig;         /* cut into instances */
    double fp32_flops;
    double memory_bytes_per_s;
};

/* Loads the driver's library. False without one. */
bool yk_nvml_load(struct yk_nvml *out);

/* Finds up to `room` GPUs and returns how many; -1 when the driver does not answer. */
int yk_nvml_find(const struct yk_nvml *nvml, struct yk_nvml_gpu *out, int room);

#endif
