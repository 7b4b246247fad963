/* Auto: Accelerate's rule on the GPUs of the cluster; its CPUs, and what the file says of the
 * hosts, are where weights spill. Without a GPU the rule is applied to the CPUs. */
#include "planner/placement/auto.h"
#include "planner/placement/context.h"

/* The devices that Accelerate would number 0, 1, 2 …: returns how many. */
static int32_t list_devices(const struct yk_cluster *cluster, int32_t *numbers)
{
    int32_t count = 0;
    for (int32_t p = 0; p < cluster->device_count; p++) {
        if (!cluster->devices[p].is_cpu) {
            numbers[count++] = p;
        }
    }
    for (int32_t p = 0; count == 0 && p < cluster->device_count; p++) {
        numbers[p] = p;
    }
    return count > 0 ? count : cluster->device_count;
}

static int64_t host_bytes(const struct yk_cluster *cluster, int32_t listed)
{
    double bytes = cluster->host_memory_bytes;
    for (int32_t p = 0; bytes == 0 && listed < cluster->device_count && p < cluster->device_count;
         p++) {
        bytes += cluster->devices[p].is_cpu ? cluster->devices[p].memory_bytes : 0;
    }
    return bytes > 0 ? (int64_t)bytes : YK_AUTO_NO_CPU;
}

/* The map with the cluster's numbers in place of Accelerate's. */
static yk_status renumber(const struct yk_module_map *map, const int32_t *numbers,
                          struct yk_arena *arena, const struct yk_module_map **out)
{
    struct yk_module_map *copy = NULL;
    struct yk_module_map_entry *entries = NULL;
    YK_TRY_NEW(arena, copy, 1);
    YK_TRY_NEW(arena, entries, map->count);
    for (int32_t i = 0; i < map->count; i++) {
        entries[i] = map->entries[i];
        entries[i].place = entries[i].place >= 0 ? numbers[entries[i].place] : entries[i].place;
    }
    *copy = (struct yk_module_map){entries, map->count};
    *out = copy;
    return YK_OK;
}

yk_status yk_placement_auto(struct yk_placement_context *place, struct yk_placement *placement)
{
    const struct yk_cluster *cluster = place->request->book->cluster;
    struct yk_arena *arena = place->out->arena;
    const struct yk_module_map *map = NULL;
    int32_t *numbers = NULL;
    int64_t *memory = NULL;
    YK_TRY_NEW(arena, numbers, cluster->device_count);
    YK_TRY_NEW(arena, memory, cluster->device_count);
    const int32_t count = list_devices(cluster, numbers);
    for (int32_t i = 0; i < count; i++) {
        memory[i] = (int64_t)cluster->devices[numbers[i]].memory_bytes;
    }
    const struct yk_auto_request request = {
        .modules = place->modules,
        .precision = place->request->workload.precision,
        .nf4 = place->request->workload.nf4,
        .memory_bytes = memory,
        .device_count = count,
        .cpu_bytes = host_bytes(cluster, count),
    };
    YK_TRY(yk_auto_place(&request, arena, &map));
    YK_TRY(renumber(map, numbers, arena, &map));
    return yk_placement_context_apply_map(place, map, placement);
}
