/*
 * Topology: finds the processors, caches and memory of this machine. Only topology.c uses hwloc.
 */
#ifndef YK_CLUSTER_TOPOLOGY_H
#define YK_CLUSTER_TOPOLOGY_H

#include "base/arena.h"
#include "base/status.h"
#include "base/system.h"
#include "cluster/cores.h"

#include <stdint.h>

enum {
    YK_TOPOLOGY_CACHE_LEVELS = 3
};

/* The processors and caches that the container or cgroup of this process allows, and the memory of
 * the whole machine. A member is 0 if it is unknown. */
struct yk_topology {
    char cpu_name[YK_SYSTEM_CPU_NAME_SIZE];
    int package_count;
    int core_count; /* if unknown: thread_count */
    int thread_count;
    int numa_count;
    double memory_bytes;
    double cache_bytes[YK_TOPOLOGY_CACHE_LEVELS]; /* total size of all L1 data caches, all L2 caches
                                                     and all L3 caches */
};

yk_status yk_topology_find(struct yk_topology *out) YK_MUST_USE;

/* Lists the logical CPUs of the machine, without those that the container or cgroup forbids. They
 * are sorted so that logical CPUs with shared caches are adjacent. */
yk_status yk_topology_list_cores(struct yk_arena *arena, struct yk_cpu_core **out,
                                 int32_t *out_count) YK_MUST_USE;

#endif
