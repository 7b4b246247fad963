/* Groups of ranks. The group of all ranks in order uses the communicator of the world; every other
 * group has its own. */
#include "comm/nccl/nccl_internal.h"

#include <stdlib.h>

static void free_group(struct yk_comm_group *group)
{
    if (group) {
        free(group->byte_firsts);
        free(group->firsts);
        free(group);
    }
}

static struct yk_comm_group *make_group(struct yk_comm_world *world, int32_t members, int32_t me)
{
    struct yk_comm_group *group = calloc(1, sizeof *group);
    if (!group) {
        return NULL;
    }
    *group = (struct yk_comm_group){.world = world, .members = members, .me = me};
    group->firsts = calloc((size_t)members + 1, sizeof *group->firsts);
    group->byte_firsts = calloc((size_t)members + 1, sizeof *group->byte_firsts);
    if (!group->firsts || !group->byte_firsts) {
        free_group(group);
        return NULL;
    }
    return group;
}

static ncclResult_t run_split(struct yk_nccl_call_with_deadline *call)
{
    ncclComm_t comm = NULL;
    const ncclResult_t result =
        ncclCommSplit(call->world->comm, call->color, call->key, &comm, NULL);
    call->comm = comm;
    return result;
}

/* All ranks of the world ask for it; `out` is NULL for those outside. */
static yk_status split(struct yk_comm_world *world, int32_t me, int32_t members, ncclComm_t *out)
{
    int count = 0;
    int place = 0;
    struct yk_nccl_call_with_deadline call = {
        .run = run_split,
        .world = world,
        .doing = "making a group",
        .color = me < 0 ? NCCL_SPLIT_NOCOLOR : 0,
        .key = me,
    };
    if (!yk_nccl_call_run_with_deadline(&call, world->timeout_s)) {
        return yk_first_failure_check(&world->failure);
    }
    if (call.comm &&
        (ncclCommCount(call.comm, &count) != ncclSuccess ||
         ncclCommUserRank(call.comm, &place) != ncclSuccess || count != members || place != me)) {
        (void)ncclCommAbort(call.comm);
        return yk_fail(YK_ERROR_INPUT, "nccl: a group is not the same on all ranks");
    }
    *out = call.comm;
    return YK_OK;
}

yk_status yk_nccl_group_create(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                               struct yk_comm_group **out)
{
    int32_t me = -1;
    bool is_all = count == world->size;
    YK_TRY(yk_first_failure_check(&world->failure));
    for (int32_t i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= world->size) {
            return yk_fail(YK_ERROR_INPUT, "nccl: a group with rank %d in a world of %d ranks",
                           (int)ranks[i], (int)world->size);
        }
        me = ranks[i] == world->rank ? i : me;
        is_all = is_all && ranks[i] == i;
    }
    struct yk_comm_group *group = me >= 0 ? make_group(world, count, me) : NULL;
    yk_status status = group || me < 0 ? YK_OK : yk_fail_out_of_memory();
    ncclComm_t comm = is_all ? world->comm : NULL;
    if (status == YK_OK && !is_all) {
        status = world->options.backend->lane_synchronize(world->options.lane);
    }
    if (status == YK_OK && !is_all) {
        status = split(world, me, count, &comm);
    }
    YK_TRY_OR_CLEAN_UP(status, free_group(group));
    if (group) {
        group->comm = comm;
        group->is_all = is_all;
    }
    if (group && !is_all) {
        (void)pthread_mutex_lock(&world->list);
        group->next = world->groups;
        world->groups = group;
        (void)pthread_mutex_unlock(&world->list);
    }
    *out = group;
    return YK_OK;
}

static void unlink_group(struct yk_comm_group *group)
{
    struct yk_comm_group **place = &group->world->groups;
    while (*place && *place != group) {
        place = &(*place)->next;
    }
    if (*place) {
        *place = group->next;
    }
}

static ncclResult_t run_destroy(struct yk_nccl_call_with_deadline *call)
{
    return ncclCommDestroy(call->comm);
}

/* One whose communicators were given up stays: a thread may still be about it. */
void yk_nccl_group_destroy(struct yk_comm_group *group)
{
    if (!group) {
        return;
    }
    struct yk_comm_world *world = group->world;
    struct yk_nccl_call_with_deadline call = {
        .run = run_destroy, .world = world, .doing = "leaving a group", .comm = group->comm};
    if (group->is_all) {
        free_group(group);
        return;
    }
    (void)pthread_mutex_lock(&world->list);
    const bool is_sound =
        !atomic_load(&world->aborted) && !yk_first_failure_is_set(&world->failure);
    if (is_sound) {
        unlink_group(group);
    }
    (void)pthread_mutex_unlock(&world->list);
    if (is_sound) {
        (void)yk_nccl_call_run_with_deadline(&call, world->timeout_s);
        free_group(group);
    }
}
