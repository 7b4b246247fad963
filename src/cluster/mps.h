/*
 * MPS: which part of a GPU this process has where several share it under NVIDIA's Multi-Process
 * Service: some of its multiprocessors, and some of its memory. CUDA's driver is loaded on demand
 * and stays loaded. Its functions stand in a table, so that a test can replace them. One thread at
 * a time.
 */
#ifndef YK_CLUSTER_MPS_H
#define YK_CLUSTER_MPS_H

#include <stdbool.h>

/* Each as the library declares it: 0 is success. */
struct yk_mps_driver {
    int (*begin)(unsigned flags);
    int (*device)(int *out, int number);
    int (*attribute)(int *out, int attribute, int device);
    int (*retain)(void **out, int device); /* of the primary context */
    int (*release)(int device);
};

/* What the environment says; NULL: nothing. */
struct yk_mps_environment {
    const char *percent; /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: "70" */
    const char *limits;  /* CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: "0=48G,1=512M" */
};

/* False without a driver. */
bool yk_mps_load(struct yk_mps_driver *out);

struct yk_mps_environment yk_mps_environment(void);

/* The part of the `whole` multiprocessors (0: not known) that CUDA's device `number` has for this
 * process: what the driver counts, or without one (NULL) the percentage that is asked for. */
double yk_mps_part(const struct yk_mps_driver *driver, const struct yk_mps_environment *environment,
                   int number, int whole);

/* How many of the `whole` bytes of CUDA's device `number` this process may take. */
double yk_mps_memory_bytes(const struct yk_mps_environment *environment, int number, double whole);

#endif
