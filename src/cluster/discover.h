/*
 * Discover: finds the hardware of this machine and describes it as a cluster. A machine without GPU
 * or driver is a cluster of one CPU. Not thread-safe.
 */
#ifndef YK_CLUSTER_DISCOVER_H
#define YK_CLUSTER_DISCOVER_H

#include "cluster/cluster.h"
#include "cluster/nvml.h"
#include "cluster/topology.h"

enum {
    YK_DISCOVER_MAX_GPUS = 64
};

struct yk_machine {
    struct yk_topology host;
    struct yk_nvml_gpu gpus[YK_DISCOVER_MAX_GPUS];
    int gpu_count;
    const char *note; /* a sentence that says why there is no GPU; NULL if there is one */
};

/* Finds the hardware. `nvml` NULL means: the NVML library of the driver. */
yk_status yk_discover_machine(const struct yk_nvml_functions *nvml,
                              struct yk_machine *out) YK_MUST_USE;

/* Finds the datasheet by the driver's name of a GPU: "NVIDIA H200". Returns NULL if unknown. */
const struct yk_datasheet *yk_discover_find_datasheet(const char *name);

/*
 * Describes the machine as a cluster of its GPUs or, without GPU, of its CPU. The rates of a GPU
 * without a datasheet are computed from its core count and clocks. It fails if the driver does not
 * report those.
 */
yk_status yk_discover_make_cluster(const struct yk_machine *machine,
                                   struct yk_cluster **out) YK_MUST_USE;

#endif
