/* Enqueues the ops of comm.h on the stream of the comm lane. Does nothing after the world has
 * failed. */
#include "comm/nccl/nccl_internal.h"

#include <assert.h>

/* False where nothing is to be enqueued. Otherwise NCCL is this thread's until it leaves. The
 * backend may collect ops until the end of a range, and NCCL would come before them: an event ends
 * that. */
bool yk_nccl_enqueue_lock(struct yk_comm_world *world)
{
    (void)pthread_mutex_lock(&world->use);
    if (yk_first_failure_is_set(&world->failure) || atomic_load(&world->aborted)) {
        (void)pthread_mutex_unlock(&world->use);
        return false;
    }
    world->options.backend->event_record(world->options.lane, world->event);
    return true;
}

void yk_nccl_enqueue_unlock(struct yk_comm_world *world)
{
    (void)pthread_mutex_unlock(&world->use);
}

/* ---- reduce ---- */

static void all_reduce_in_blocks(const struct yk_comm_all_reduce *op,
                                 enum yk_comm_data_type wire_type)
{
    struct yk_comm_world *world = op->group->world;
    const int64_t block = YK_NCCL_DEVICE_STAGE_BYTES / (int64_t)yk_comm_data_type_bytes(wire_type);
    bool goes = true;
    for (int64_t at = 0; goes && at < op->count; at += block) {
        const int64_t now = yk_number_min(op->count - at, block);
        void *place = yk_comm_data_type_element_pointer(op->type, op->numbers, at);
        yk_nccl_staging_enqueue_convert(world, world->stage, wire_type, place, op->type, now);
        goes = yk_nccl_device_memory_all_reduce(op->group, world->stage, now, wire_type);
        yk_nccl_staging_enqueue_convert(world, place, op->type, world->stage, wire_type, now);
    }
}

void yk_nccl_enqueue_all_reduce(const struct yk_comm_all_reduce *op)
{
    struct yk_comm_world *world = op->group->world;
    const enum yk_comm_data_type wire_type = yk_comm_data_type_on_wire(op->type, op->sum_in_fp32);
    if (op->count == 0 || !yk_nccl_enqueue_lock(world)) {
        return;
    }
    if (wire_type == op->type && yk_nccl_staging_is_device_memory(op->numbers)) {
        (void)yk_nccl_device_memory_all_reduce(op->group, op->numbers, op->count, op->type);
    } else {
        all_reduce_in_blocks(op, wire_type);
    }
    yk_nccl_enqueue_unlock(world);
}

/* ---- bytes ---- */

/* Bytes to others or from one, a block at a time where they are not the device's: to or from the
 * members of `group`, or where that is NULL the rank `peer`, as a message. */
static void transfer_in_blocks(struct yk_comm_world *world, const struct yk_comm_group *group,
                               int32_t peer, void *bytes, size_t size, bool is_sent)
{
    const bool is_near = yk_nccl_staging_is_device_memory(bytes);
    const size_t block = is_near ? size : YK_NCCL_DEVICE_STAGE_BYTES;
    bool goes = true;
    for (size_t at = 0; goes && at < size; at += block) {
        const size_t now = size - at < block ? size - at : block;
        char *here = (char *)bytes + at;
        char *place = is_near ? here : world->stage;
        if (is_sent) {
            yk_nccl_staging_enqueue_copy(world, place, here, now);
        }
        goes = group ? yk_nccl_device_memory_broadcast(group, place, now, peer)
                     : yk_nccl_device_memory_send_recv(world, place, now, peer, is_sent);
        if (!is_sent) {
            yk_nccl_staging_enqueue_copy(world, here, place, now);
        }
    }
}

void yk_nccl_enqueue_broadcast(const struct yk_comm_broadcast *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    if (op->size == 0 || !yk_nccl_enqueue_lock(world)) {
        return;
    }
    transfer_in_blocks(world, group, op->root, op->bytes, op->size, group->me == op->root);
    yk_nccl_enqueue_unlock(world);
}

static bool is_valid(const struct yk_comm_send_recv *op)
{
    struct yk_comm_world *world = op->world;
    if (op->peer != world->rank && op->peer >= 0 && op->peer < world->size) {
        return true;
    }
    yk_first_failure_set(&world->failure, YK_ERROR_INPUT,
                         "message %d between rank %d and rank %d of %d cannot be", (int)op->tag,
                         (int)world->rank, (int)op->peer, (int)world->size);
    return false;
}

/* Messages between two ranks go in the order of enqueueing: their numbers are not needed. */
static void enqueue_message(const struct yk_comm_send_recv *op, bool is_sent)
{
    struct yk_comm_world *world = op->world;
    if (!is_valid(op) || op->size == 0 || !yk_nccl_enqueue_lock(world)) {
        return;
    }
    transfer_in_blocks(world, NULL, op->peer, op->bytes, op->size, is_sent);
    yk_nccl_enqueue_unlock(world);
}

void yk_nccl_enqueue_send(const struct yk_comm_send_recv *op)
{
    enqueue_message(op, true);
}

void yk_nccl_enqueue_recv(const struct yk_comm_send_recv *op)
{
    enqueue_message(op, false);
}

/* ---- parts, block by block ---- */

static int64_t packed(const struct yk_comm_group *group, int32_t member)
{
    return group->firsts[member + 1] - group->firsts[member];
}

/* ---- gather ---- */

static char *element(const struct yk_comm_all_gather *op, int64_t at)
{
    return (char *)op->whole + at * (int64_t)op->element_bytes;
}

static void all_gather_in_blocks(const struct yk_comm_all_gather *op, int64_t block)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t size = (int64_t)op->element_bytes;
    const int64_t longest = yk_part_offsets_max_length(op->offsets, group->members);
    bool goes = true;
    for (int64_t at = 0; goes && at < longest; at += block) {
        yk_part_offsets_make_block_offsets(op->offsets, group->members, at, block, group->firsts);
        char *own = world->stage + group->firsts[group->me] * size;
        yk_nccl_staging_enqueue_copy(world, own, (const char *)op->own + at * size,
                                     (size_t)(packed(group, group->me) * size));
        goes = yk_nccl_device_memory_all_gather(group, own, world->stage, group->firsts,
                                                op->element_bytes);
        for (int32_t i = 0; i < group->members; i++) {
            yk_nccl_staging_enqueue_copy(world, element(op, op->offsets[i] + at),
                                         world->stage + group->firsts[i] * size,
                                         (size_t)(packed(group, i) * size));
        }
    }
}

/* Things larger than a block are bytes: the parts of `op` counted in them. */
static void all_gather_bytes(const struct yk_comm_all_gather *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_all_gather bytes = *op;
    assert(group->members > 0);
    bytes.element_bytes = 1;
    for (int32_t i = 0; i <= group->members; i++) {
        group->byte_firsts[i] = op->offsets[i] * (int64_t)op->element_bytes;
    }
    bytes.offsets = group->byte_firsts;
    all_gather_in_blocks(&bytes, YK_NCCL_DEVICE_STAGE_BYTES / group->members);
}

void yk_nccl_enqueue_all_gather(const struct yk_comm_all_gather *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t count = op->offsets[group->me + 1] - op->offsets[group->me];
    if ((op->offsets[group->members] - op->offsets[0]) * (int64_t)op->element_bytes == 0 ||
        !yk_nccl_enqueue_lock(world)) {
        return;
    }
    if (!yk_nccl_staging_is_device_memory(op->whole)) {
        all_gather_bytes(op);
    } else {
        char *place = element(op, op->offsets[group->me]);
        const bool is_near = count == 0 || yk_nccl_staging_is_device_memory(op->own);
        if (!is_near) {
            yk_nccl_staging_enqueue_copy(world, place, op->own, (size_t)count * op->element_bytes);
        }
        (void)yk_nccl_device_memory_all_gather(group, is_near && count > 0 ? op->own : place,
                                               op->whole, op->offsets, op->element_bytes);
    }
    yk_nccl_enqueue_unlock(world);
}

/* ---- scatter ---- */

/* This member's sum, on the device, to its place in `own`; `spare` has room for as much. */
static void store_sum(const struct yk_comm_reduce_scatter *op, int64_t at, void *sum, int64_t count,
                      enum yk_comm_data_type wire_type, void *spare)
{
    struct yk_comm_world *world = op->group->world;
    void *own = yk_comm_data_type_element_pointer(op->type, op->own, at);
    if (op->accumulate && count > 0) {
        yk_nccl_staging_enqueue_convert(world, spare, wire_type, own, op->type, count);
        yk_nccl_staging_enqueue_add(world, sum, spare, count, wire_type);
    }
    yk_nccl_staging_enqueue_convert(world, own, op->type, sum, wire_type, count);
}

static void reduce_scatter_in_blocks(const struct yk_comm_reduce_scatter *op,
                                     enum yk_comm_data_type wire_type)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t block = YK_NCCL_DEVICE_STAGE_BYTES / (group->members + 1) /
                          (int64_t)yk_comm_data_type_bytes(wire_type);
    const int64_t longest = yk_part_offsets_max_length(op->offsets, group->members);
    bool goes = true;
    for (int64_t at = 0; goes && at < longest; at += block) {
        yk_part_offsets_make_block_offsets(op->offsets, group->members, at, block, group->firsts);
        for (int32_t i = 0; i < group->members; i++) {
            yk_nccl_staging_enqueue_convert(
                world, yk_comm_data_type_element_pointer(wire_type, world->stage, group->firsts[i]),
                wire_type,
                yk_comm_data_type_element_pointer(op->type, op->whole, op->offsets[i] + at),
                op->type, packed(group, i));
        }
        void *sum =
            yk_comm_data_type_element_pointer(wire_type, world->stage, group->firsts[group->me]);
        goes = yk_nccl_device_memory_reduce_scatter(group, world->stage, sum, group->firsts,
                                                    wire_type);
        store_sum(
            op, at, sum, packed(group, group->me), wire_type,
            yk_comm_data_type_element_pointer(wire_type, world->stage, group->members * block));
    }
}

/* The sum goes to `own` itself, or by way of this member's place in `whole`. */
static void reduce_scatter_directly(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t count = op->offsets[group->me + 1] - op->offsets[group->me];
    char *place = yk_comm_data_type_element_pointer(op->type, op->whole, op->offsets[group->me]);
    const bool is_near = count > 0 && yk_nccl_staging_is_device_memory(op->own);
    void *out = is_near && !op->accumulate ? op->own : place;
    if (!yk_nccl_device_memory_reduce_scatter(group, op->whole, out, op->offsets, op->type)) {
        return;
    }
    if (is_near && op->accumulate) {
        yk_nccl_staging_enqueue_add(world, op->own, place, count, op->type);
        return;
    }
    const int64_t max_count =
        YK_NCCL_DEVICE_STAGE_BYTES / (int64_t)yk_comm_data_type_bytes(op->type);
    for (int64_t at = 0; !is_near && at < count; at += max_count) {
        store_sum(op, at, yk_comm_data_type_element_pointer(op->type, place, at),
                  yk_number_min(count - at, max_count), op->type, world->stage);
    }
}

void yk_nccl_enqueue_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    const enum yk_comm_data_type wire_type = yk_comm_data_type_on_wire(op->type, op->sum_in_fp32);
    if (op->offsets[group->members] == op->offsets[0] || !yk_nccl_enqueue_lock(group->world)) {
        return;
    }
    if (wire_type == op->type && yk_nccl_staging_is_device_memory(op->whole)) {
        reduce_scatter_directly(op);
    } else {
        reduce_scatter_in_blocks(op, wire_type);
    }
    yk_nccl_enqueue_unlock(group->world);
}
