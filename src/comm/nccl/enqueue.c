/* Exchanges as comm.h has them, put on the lane's stream: sums, broadcasts and messages. Nothing is
 * put once the world is in trouble. */
#include "comm/nccl/world.h"

#include <stdio.h>

/*
 * False where nothing is to be put. Otherwise NCCL is this thread's until it leaves.
 *
 * The backend may collect ops from the beginning of a range to its end, and NCCL would come before
 * them: an event ends the collecting.
 */
bool yk_nccl_enqueue_enter(struct yk_comm_world *world)
{
    (void)pthread_mutex_lock(&world->use);
    if (yk_failure_is_set(&world->trouble) || atomic_load(&world->aborted)) {
        (void)pthread_mutex_unlock(&world->use);
        return false;
    }
    world->options.backend->event_record(world->options.lane, world->event);
    return true;
}

void yk_nccl_enqueue_leave(struct yk_comm_world *world)
{
    (void)pthread_mutex_unlock(&world->use);
}

/* ---- reduce ---- */

static void all_reduce_in_blocks(const struct yk_comm_all_reduce *op, enum yk_comm_type travels)
{
    struct yk_comm_world *world = op->group->world;
    const int64_t block = YK_NCCL_STAGE_BYTES / (int64_t)yk_comm_type_bytes(travels);
    bool goes = true;
    for (int64_t at = 0; goes && at < op->count; at += block) {
        const int64_t now = yk_nccl_min(op->count - at, block);
        void *place = yk_comm_elements_at(op->type, op->numbers, at);
        yk_nccl_staging_load(world, world->travel, travels, place, op->type, now);
        goes = yk_nccl_device_all_reduce(op->group, world->travel, now, travels);
        yk_nccl_staging_store(world, place, op->type, world->travel, travels, now);
    }
}

void yk_nccl_enqueue_all_reduce(const struct yk_comm_all_reduce *op)
{
    struct yk_comm_world *world = op->group->world;
    const enum yk_comm_type travels = yk_nccl_wire_type(op->type, op->wide);
    if (op->count == 0 || !yk_nccl_enqueue_enter(world)) {
        return;
    }
    if (travels == op->type && yk_nccl_staging_is_on_device(op->numbers)) {
        (void)yk_nccl_device_all_reduce(op->group, op->numbers, op->count, op->type);
    } else {
        all_reduce_in_blocks(op, travels);
    }
    yk_nccl_enqueue_leave(world);
}

/* ---- bytes ---- */

/* Bytes to others or from one, a block at a time where they are not the device's: to or from the
 * members of `group`, or where that is NULL the rank `peer`, as a message. */
static void pass_in_blocks(struct yk_comm_world *world, const struct yk_comm_group *group,
                           int32_t peer, void *bytes, size_t size, bool is_sent)
{
    const bool is_near = yk_nccl_staging_is_on_device(bytes);
    const size_t block = is_near ? size : YK_NCCL_STAGE_BYTES;
    bool goes = true;
    for (size_t at = 0; goes && at < size; at += block) {
        const size_t now = size - at < block ? size - at : block;
        char *here = (char *)bytes + at;
        char *place = is_near ? here : world->travel;
        if (is_sent) {
            yk_nccl_staging_copy(world, place, here, now);
        }
        goes = group ? yk_nccl_device_broadcast(group, place, now, peer)
                     : yk_nccl_device_message(world, place, now, peer, is_sent);
        if (!is_sent) {
            yk_nccl_staging_copy(world, here, place, now);
        }
    }
}

void yk_nccl_enqueue_broadcast(const struct yk_comm_broadcast *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    if (op->size == 0 || !yk_nccl_enqueue_enter(world)) {
        return;
    }
    pass_in_blocks(world, group, op->from, op->bytes, op->size, group->me == op->from);
    yk_nccl_enqueue_leave(world);
}

static bool can_pass(const struct yk_comm_message *op)
{
    struct yk_comm_world *world = op->world;
    if (op->peer != world->rank && op->peer >= 0 && op->peer < world->size) {
        return true;
    }
    char sentence[128];
    (void)snprintf(sentence, sizeof sentence,
                   "message %d between rank %d and rank %d of %d cannot be", (int)op->number,
                   (int)world->rank, (int)op->peer, (int)world->size);
    yk_failure_set(&world->trouble, YK_ERROR_INPUT, sentence);
    return false;
}

/* Messages between two ranks go in the order in which they are put: their numbers are not needed.
 */
static void put_message(const struct yk_comm_message *op, bool is_sent)
{
    struct yk_comm_world *world = op->world;
    if (!can_pass(op) || op->size == 0 || !yk_nccl_enqueue_enter(world)) {
        return;
    }
    pass_in_blocks(world, NULL, op->peer, op->bytes, op->size, is_sent);
    yk_nccl_enqueue_leave(world);
}

void yk_nccl_enqueue_send(const struct yk_comm_message *op)
{
    put_message(op, true);
}

void yk_nccl_enqueue_recv(const struct yk_comm_message *op)
{
    put_message(op, false);
}
