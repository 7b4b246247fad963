#include "cluster/topology.h"

#include <hwloc.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    const int count = hwloc_get_nbobjs_by_type(topology, type);
    return count > 0 ? count : 0;
}

static double sum_caches(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    double bytes = 0;
    hwloc_obj_t cache = NULL;
    while ((cache = hwloc_get_next_obj_by_type(topology, type, cache)) != NULL) {
        bytes += (double)cache->attr->cache.size;
    }
    return bytes;
}

/* The system's own count: in some containers the nodes that hwloc adds up show only a part of it.
 */
static double system_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (double)pages * (double)page_bytes : 0;
}

static yk_status load(hwloc_topology_t *out)
{
    hwloc_topology_t topology = NULL;
    /* What it cannot find out it would say on standard error; here that is a 0. */
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (hwloc_topology_init(&topology) != 0) {
        return yk_fail_out_of_memory();
    }
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return yk_fail(YK_ERROR_SYSTEM, "hwloc cannot tell what processors this machine has");
    }
    *out = topology;
    return YK_OK;
}

yk_status yk_topology_find(struct yk_topology *out)
{
    static const hwloc_obj_type_t caches[YK_TOPOLOGY_CACHE_LEVELS] = {
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    hwloc_topology_t topology = NULL;
    YK_TRY(load(&topology));
    struct yk_topology found = {
        .package_count = count_of(topology, HWLOC_OBJ_PACKAGE),
        .core_count = count_of(topology, HWLOC_OBJ_CORE),
        .thread_count = count_of(topology, HWLOC_OBJ_PU),
        .numa_count = count_of(topology, HWLOC_OBJ_NUMANODE),
        .memory_bytes =
            fmax((double)hwloc_get_root_obj(topology)->total_memory, system_memory_bytes()),
    };
    if (found.core_count == 0) {
        found.core_count =
            found.thread_count; /* without /sys it is unknown which threads share one */
    }
    for (int level = 0; level < YK_TOPOLOGY_CACHE_LEVELS; level++) {
        found.cache_bytes[level] = sum_caches(topology, caches[level]);
    }
    hwloc_topology_destroy(topology);
    yk_system_cpu_name(found.cpu_name);
    *out = found;
    return YK_OK;
}

yk_status yk_topology_list_cores(struct yk_arena *arena, struct yk_cpu_core **out,
                                 int32_t *out_count)
{
    hwloc_topology_t topology = NULL;
    YK_TRY(load(&topology));
    const int32_t count = count_of(topology, HWLOC_OBJ_PU);
    struct yk_cpu_core *cores = yk_arena_allocate(arena, (size_t)count, sizeof *cores);
    hwloc_obj_t unit = NULL;
    hwloc_obj_t core = NULL;
    int32_t sibling = 0;
    for (int32_t i = 0; cores && i < count; i++) {
        unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit);
        hwloc_obj_t parent = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
        sibling = parent && parent == core ? sibling + 1 : 0;
        core = parent;
        cores[i] = (struct yk_cpu_core){.number = (int32_t)unit->os_index, .sibling = sibling};
    }
    hwloc_topology_destroy(topology);
    YK_TRY_ALLOCATED(cores);
    *out = cores;
    *out_count = count;
    return YK_OK;
}
