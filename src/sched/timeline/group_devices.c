#include "sched/timeline/group_devices.h"

yk_status yk_group_devices_create(struct yk_arena *arena, const struct yk_graph *graph,
                                  struct yk_group_devices *out)
{
    struct yk_group_devices homes = {.graph = graph};
    YK_TRY_NEW(arena, homes.devices, graph->group_count);
    YK_TRY_NEW(arena, homes.placed, graph->group_count);
    YK_TRY_NEW(arena, homes.users, (int64_t)graph->store_count * graph->device_count);
    yk_group_devices_clear(&homes);
    *out = homes;
    return YK_OK;
}

void yk_group_devices_clear(struct yk_group_devices *homes)
{
    const struct yk_graph *graph = homes->graph;
    for (int32_t g = 0; g < graph->group_count; g++) {
        homes->devices[g] = YK_GROUP_DEVICES_NONE;
        homes->placed[g] = 0;
    }
    for (int64_t i = 0; i < (int64_t)graph->store_count * graph->device_count; i++) {
        homes->users[i] = 0;
    }
}

/* The count of the users of the group's store on `device`, or NULL when it has no store. */
static int32_t *users_of(const struct yk_group_devices *homes, int32_t group, int32_t device)
{
    const int32_t store = homes->graph->groups[group].store;
    return store == YK_GRAPH_NO_STORE
               ? NULL
               : &homes->users[(int64_t)store * homes->graph->device_count + device];
}

void yk_group_devices_assign(struct yk_group_devices *homes, int32_t task, int32_t device)
{
    const int32_t group = homes->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP || homes->placed[group]++ > 0) {
        return;
    }
    homes->devices[group] = device;
    int32_t *users = users_of(homes, group, device);
    if (users) {
        ++*users;
    }
}

void yk_group_devices_remove(struct yk_group_devices *homes, int32_t task, int32_t device)
{
    const int32_t group = homes->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP || --homes->placed[group] > 0) {
        return;
    }
    homes->devices[group] = YK_GROUP_DEVICES_NONE;
    int32_t *users = users_of(homes, group, device);
    if (users) {
        --*users;
    }
}

int64_t yk_group_devices_added_bytes(const struct yk_group_devices *homes, int32_t task,
                                     int32_t device)
{
    const int32_t group = homes->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP || homes->placed[group] > 0) {
        return 0;
    }
    const struct yk_graph_group *record = &homes->graph->groups[group];
    const int32_t *users = users_of(homes, group, device);
    const bool brings_store = users && *users == 0;
    return record->resident_bytes + (brings_store ? homes->graph->stores[record->store].bytes : 0);
}
