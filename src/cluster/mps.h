/*
 * MPS: the share of a GPU that this process has under NVIDIA's Multi-Process Service: a fraction of
 * its multiprocessors (SMs) and of its memory. The CUDA driver library is loaded on demand and
 * stays loaded. Its functions are in a table, so that tests can replace them. Not thread-safe.
 */
#ifndef YK_CLUSTER_MPS_H
#define YK_CLUSTER_MPS_H

#include <stdbool.h>

/* Functions of the CUDA driver. They return 0 on success. */
struct yk_mps_cuda_driver {
    int (*begin)(unsigned flags);                          /* cuInit */
    int (*device)(int *out, int number);                   /* cuDeviceGet */
    int (*attribute)(int *out, int attribute, int device); /* cuDeviceGetAttribute */
    int (*retain)(void **out, int device);                 /* cuDevicePrimaryCtxRetain */
    int (*release)(int device);                            /* cuDevicePrimaryCtxRelease */
};

/* Environment variables; NULL: not set. */
struct yk_mps_environment {
    const char *percent; /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: "70" */
    const char *limits;  /* CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: "0=48G,1=512M" */
};

/* Returns false if there is no CUDA driver. */
bool yk_mps_load(struct yk_mps_cuda_driver *out);

struct yk_mps_environment yk_mps_environment(void);

/* Returns the fraction of SMs of CUDA device `number` that this process may use. `whole` is the
 * number of SMs of the GPU; 0: unknown. It asks the driver or, if `driver` is NULL, uses the
 * percentage of the environment. */
double yk_mps_sm_fraction(const struct yk_mps_cuda_driver *driver,
                          const struct yk_mps_environment *environment, int number, int whole);

/* Returns how many of the `whole` bytes of CUDA device `number` this process may allocate. */
double yk_mps_memory_limit_bytes(const struct yk_mps_environment *environment, int number,
                                 double whole);

#endif
