/*
 * MPS: finds how much of a GPU this process may use under NVIDIA's Multi-Process Service: which
 * fraction of the multiprocessors (SMs) and how many bytes of the memory. The CUDA driver library
 * is loaded on demand and stays loaded. Its functions are in a table, so that tests can replace
 * them. Not thread-safe.
 */
#ifndef YK_CLUSTER_MPS_H
#define YK_CLUSTER_MPS_H

#include <stdbool.h>

/* Functions of the CUDA driver. They return 0 if they succeed. */
struct yk_mps_cuda_driver {
    int (*begin)(unsigned flags);                          /* cuInit */
    int (*device)(int *out, int number);                   /* cuDeviceGet */
    int (*attribute)(int *out, int attribute, int device); /* cuDeviceGetAttribute */
    int (*retain)(void **out, int device);                 /* cuDevicePrimaryCtxRetain */
    int (*release)(int device);                            /* cuDevicePrimaryCtxRelease */
};

/* Values of environment variables. NULL means: not set. */
struct yk_mps_environment {
    const char *percent; /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: "70" */
    const char *limits;  /* CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: "0=48G,1=512M" */
};

/* Loads the CUDA driver library. Returns false if it is missing or too old. */
bool yk_mps_load_cuda_driver(struct yk_mps_cuda_driver *out);

struct yk_mps_environment yk_mps_read_environment(void);

/* Returns the fraction of the SMs of CUDA device `number` that this process may use. `whole` is the
 * number of SMs of the GPU; 0 means: unknown. The driver reports how many of them this process may
 * use. If `driver` is NULL, `whole` is 0 or the driver does not answer, the percentage in the
 * environment is used. Without a percentage, the fraction is 1. */
double yk_mps_sm_fraction(const struct yk_mps_cuda_driver *driver,
                          const struct yk_mps_environment *environment, int number, int whole);

/* Returns how many bytes of CUDA device `number` this process may allocate. `whole` is the size of
 * the device's memory in bytes. */
double yk_mps_memory_limit_bytes(const struct yk_mps_environment *environment, int number,
                                 double whole);

#endif
