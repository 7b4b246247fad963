#include "sched/timeline/group_placement.h"

#include "base/number.h"

yk_status yk_group_placement_create(struct yk_arena *arena, const struct yk_graph *graph,
                                    struct yk_group_placement *out)
{
    struct yk_group_placement groups = {.graph = graph};
    YK_TRY_NEW(arena, groups.devices, graph->group_count);
    YK_TRY_NEW(arena, groups.placed, graph->group_count);
    YK_TRY_NEW(arena, groups.users, (int64_t)graph->store_count * graph->device_count);
    yk_group_placement_clear(&groups);
    *out = groups;
    return YK_OK;
}

void yk_group_placement_clear(struct yk_group_placement *groups)
{
    const struct yk_graph *graph = groups->graph;
    for (int32_t g = 0; g < graph->group_count; g++) {
        groups->devices[g] = YK_GROUP_PLACEMENT_NO_DEVICE;
        groups->placed[g] = 0;
    }
    yk_number_fill_int32_array(groups->users, (int64_t)graph->store_count * graph->device_count, 0);
}

/* The count of the users of the group's store on `device`, or NULL when it has no store. */
static int32_t *users_of(const struct yk_group_placement *groups, int32_t group, int32_t device)
{
    const int32_t store = groups->graph->groups[group].shared_store;
    return store == YK_GRAPH_NO_SHARED_STORE
               ? NULL
               : &groups->users[(int64_t)store * groups->graph->device_count + device];
}

void yk_group_placement_add_task(struct yk_group_placement *groups, int32_t task, int32_t device)
{
    const int32_t group = groups->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP || groups->placed[group]++ > 0) {
        return;
    }
    groups->devices[group] = device;
    int32_t *users = users_of(groups, group, device);
    if (users) {
        ++*users;
    }
}

void yk_group_placement_remove_task(struct yk_group_placement *groups, int32_t task, int32_t device)
{
    const int32_t group = groups->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP || --groups->placed[group] > 0) {
        return;
    }
    groups->devices[group] = YK_GROUP_PLACEMENT_NO_DEVICE;
    int32_t *users = users_of(groups, group, device);
    if (users) {
        --*users;
    }
}

int64_t yk_group_placement_added_bytes(const struct yk_group_placement *groups, int32_t task,
                                       int32_t device)
{
    const int32_t group = groups->graph->tasks[task].group;
    if (group == YK_GRAPH_NO_GROUP || groups->placed[group] > 0) {
        return 0;
    }
    const struct yk_graph_group *record = &groups->graph->groups[group];
    const int32_t *users = users_of(groups, group, device);
    const bool brings_store = users && *users == 0;
    return record->resident_bytes +
           (brings_store ? groups->graph->shared_stores[record->shared_store].bytes : 0);
}
