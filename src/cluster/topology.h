/*
 * Topology: the processors, caches and memory of this machine. Only topology.c knows hwloc.
 */
#ifndef YK_CLUSTER_TOPOLOGY_H
#define YK_CLUSTER_TOPOLOGY_H

#include "base/status.h"
#include "cluster/cpu_name.h"

enum {
    YK_TOPOLOGY_CACHE_LEVELS = 3
};

/* What this process may use; 0 stands for what the system did not tell. */
struct yk_topology {
    char cpu_name[YK_CPU_NAME_SIZE];
    int package_count;
    int core_count;
    int thread_count;
    int numa_count;
    double memory_bytes;
    double cache_bytes[YK_TOPOLOGY_CACHE_LEVELS]; /* L1 data, L2, L3: all of a level together */
};

yk_status yk_topology_find(struct yk_topology *out) YK_MUST_USE;

#endif
