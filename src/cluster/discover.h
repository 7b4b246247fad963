/*
 * Discover: finds the hardware of this machine and describes it as a cluster. A machine without a
 * GPU, or without a driver for it, becomes a cluster of one CPU. Not thread-safe.
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
    const char *note; /* a sentence that says why there is no GPU; NULL if there are GPUs */
};

/* Finds the hardware of this machine. If `nvml` is NULL, uses the NVML library of the driver. */
yk_status yk_discover_machine(const struct yk_nvml_functions *nvml,
                              struct yk_machine *out) YK_MUST_USE;

/* Finds the datasheet of a GPU by its name in the driver: "NVIDIA H200". Returns NULL if there is
 * no datasheet for this GPU. */
const struct yk_datasheet *yk_discover_find_datasheet(const char *name);

/*
 * Makes a cluster of the GPUs of the machine or, if there are none, of its CPU. If a GPU has no
 * datasheet, its speeds are computed from its number of cores and its clocks. Fails if the driver
 * does not report them.
 */
yk_status yk_discover_make_cluster(const struct yk_machine *machine,
                                   struct yk_cluster **out) YK_MUST_USE;

#endif
