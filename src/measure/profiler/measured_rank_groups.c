#include "measure/profiler/measured_rank_groups.h"

#include "base/array.h"
#include "cost/communication.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW_RANKS = 8,
    USUAL_PART_BYTES = 1 << 20, /* for which the slowest link is sought */
};

struct list {
    const struct yk_cluster *cluster;
    struct yk_arena *arena;
    int32_t *order; /* (devices) as rings go: node by node */
    int32_t *ranks; /* (devices) of the current group */
    struct yk_measured_rank_group *groups;
    int32_t count;
    int32_t capacity;
};

/* Devices of one node together, otherwise as they come. */
static yk_status find_order(struct list *list)
{
    const struct yk_device *devices = list->cluster->devices;
    const int32_t count = list->cluster->device_count;
    YK_TRY_NEW(list->arena, list->order, count);
    YK_TRY_NEW(list->arena, list->ranks, count);
    for (int32_t i = 0; i < count; i++) {
        int32_t place = i;
        while (place > 0 && devices[list->order[place - 1]].node > devices[i].node) {
            list->order[place] = list->order[place - 1];
            place--;
        }
        list->order[place] = i;
    }
    return YK_OK;
}

static bool is_known(const struct list *list, const struct yk_measured_rank_group *group)
{
    for (int32_t i = 0; i < list->count; i++) {
        if (list->groups[i].count == group->count &&
            strcmp(list->groups[i].link, group->link) == 0) {
            return true;
        }
    }
    return false;
}

/* By the link that costs would look up: the slowest of the ring. */
static bool name_group(const struct list *list, struct yk_measured_rank_group *group)
{
    const struct yk_cluster *cluster = list->cluster;
    const struct yk_ring_devices members = {group->ranks, group->count};
    double slowest_s = 0;
    const int32_t slowest =
        yk_communication_slowest_ring_link(cluster, &members, USUAL_PART_BYTES, &slowest_s);
    return yk_profile_key_format_link(cluster, NULL, group->ranks[slowest],
                                      group->ranks[(slowest + 1) % group->count], group->link);
}

/* Every `stride`-th device from `first` on, unless there is such a group. */
static yk_status add(struct list *list, int32_t first, int32_t stride, int32_t count)
{
    struct yk_measured_rank_group group = {.ranks = list->ranks, .count = count};
    for (int32_t i = 0; i < count; i++) {
        group.ranks[i] = list->order[first + i * stride];
    }
    const struct yk_device *devices = list->cluster->devices;
    group.both_directions = count == 2 && !yk_device_has_equal_hardware(&devices[group.ranks[0]],
                                                                        &devices[group.ranks[1]]);
    if (!name_group(list, &group) || is_known(list, &group)) {
        return YK_OK;
    }
    YK_TRY_NEW(list->arena, group.ranks, count);
    memcpy(group.ranks, list->ranks, (size_t)count * sizeof *group.ranks);
    YK_TRY_GROW_ARRAY(list->groups, list->capacity, list->count);
    list->groups[list->count++] = group;
    return YK_OK;
}

/* Neighbours, and ranks far apart: data parallelism where pipelines stay in a node. */
static yk_status add_of_size(struct list *list, int32_t count)
{
    const int32_t all = list->cluster->device_count;
    for (int32_t stride = 1; stride * (count - 1) < all; stride++) {
        for (int32_t first = 0; first + stride * (count - 1) < all; first++) {
            YK_TRY(add(list, first, stride, count));
        }
    }
    return YK_OK;
}

static yk_status add_all(struct list *list)
{
    const int32_t all = list->cluster->device_count;
    YK_TRY(find_order(list));
    if (all < 2) {
        return YK_OK;
    }
    YK_TRY(add_of_size(list, 2));
    YK_TRY(add(list, 0, 1, all));
    for (int32_t count = all > FEW_RANKS ? 4 : 3;
         count<all; count = all> FEW_RANKS ? 2 * count : count + 1) {
        YK_TRY(add_of_size(list, count));
    }
    return YK_OK;
}

static yk_status list_groups(struct list *list, struct yk_measured_rank_group **out,
                             int32_t *out_count)
{
    YK_TRY(add_all(list));
    YK_TRY_NEW(list->arena, *out, list->count);
    for (int32_t i = 0; i < list->count; i++) {
        (*out)[i] = list->groups[i];
    }
    *out_count = list->count;
    return YK_OK;
}

yk_status yk_measured_rank_groups_list(const struct yk_cluster *cluster, struct yk_arena *arena,
                                       struct yk_measured_rank_group **out, int32_t *out_count)
{
    struct list list = {.cluster = cluster, .arena = arena};
    const yk_status status = list_groups(&list, out, out_count);
    free(list.groups);
    return status;
}
