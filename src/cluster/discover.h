/*
 * Discover: what this machine has, and the cluster that it is. No GPU and no driver is not an
 * error: the machine then is a cluster of one CPU. One thread at a time.
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
    const char *note; /* why there is no GPU, in a sentence; NULL where there is one */
};

/* Looks at this machine; `nvml` is NULL for the driver's own, or a test's. */
yk_status yk_discover(const struct yk_nvml *nvml, struct yk_machine *out) YK_MUST_USE;

/* The datasheet of a GPU by the name its driver gives it: "NVIDIA H200"; NULL when none is known.
 */
const struct yk_datasheet *yk_discover_datasheet(const char *name);

/*
 * The machine as a cluster: its GPUs with the host's memory, or its cores where it has
 * no GPU. A GPU without a datasheet gets what its cores and clocks amount to; one whose driver does
 * not tell those is an error.
 */
yk_status yk_discover_cluster(const struct yk_machine *machine,
                              struct yk_cluster **out) YK_MUST_USE;

#endif
