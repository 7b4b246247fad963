/* Exchanges as comm.h has them, put on the lane's stream: those of parts. */
#include "comm/nccl/world.h"

#include <assert.h>

/* ---- parts, block by block ---- */

/* Block b of every part, one behind the other: where they begin, from 0 on, to the group's own
 * list. */
static void pack_blocks(const struct yk_comm_group *group, const int64_t *firsts, int64_t block,
                        int64_t b)
{
    group->firsts[0] = 0;
    for (int32_t i = 0; i < group->members; i++) {
        const int64_t left = firsts[i + 1] - firsts[i] - b * block;
        group->firsts[i + 1] = group->firsts[i] + (left < 0 ? 0 : yk_nccl_min(left, block));
    }
}

static int64_t block_count(const struct yk_comm_group *group, const int64_t *firsts, int64_t block)
{
    int64_t most = 0;
    for (int32_t i = 0; i < group->members; i++) {
        const int64_t blocks = (firsts[i + 1] - firsts[i] + block - 1) / block;
        most = blocks > most ? blocks : most;
    }
    return most;
}

static int64_t packed(const struct yk_comm_group *group, int32_t member)
{
    return group->firsts[member + 1] - group->firsts[member];
}

/* ---- gather ---- */

static char *thing(const struct yk_comm_all_gather *op, int64_t at)
{
    return (char *)op->whole + at * (int64_t)op->size;
}

static void all_gather_in_blocks(const struct yk_comm_all_gather *op, int64_t block)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t size = (int64_t)op->size;
    const int64_t blocks = block_count(group, op->firsts, block);
    bool goes = true;
    for (int64_t b = 0; goes && b < blocks; b++) {
        pack_blocks(group, op->firsts, block, b);
        char *own = world->travel + group->firsts[group->me] * size;
        yk_nccl_staging_copy(world, own, (const char *)op->own + b * block * size,
                             (size_t)(packed(group, group->me) * size));
        goes = yk_nccl_device_all_gather(group, own, world->travel, group->firsts, op->size);
        for (int32_t i = 0; i < group->members; i++) {
            yk_nccl_staging_copy(world, thing(op, op->firsts[i] + b * block),
                                 world->travel + group->firsts[i] * size,
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
    bytes.size = 1;
    for (int32_t i = 0; i <= group->members; i++) {
        group->byte_firsts[i] = op->firsts[i] * (int64_t)op->size;
    }
    bytes.firsts = group->byte_firsts;
    all_gather_in_blocks(&bytes, YK_NCCL_STAGE_BYTES / group->members);
}

void yk_nccl_enqueue_all_gather(const struct yk_comm_all_gather *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t count = op->firsts[group->me + 1] - op->firsts[group->me];
    if ((op->firsts[group->members] - op->firsts[0]) * (int64_t)op->size == 0 ||
        !yk_nccl_enqueue_enter(world)) {
        return;
    }
    if (!yk_nccl_staging_is_on_device(op->whole)) {
        all_gather_bytes(op);
    } else {
        char *place = thing(op, op->firsts[group->me]);
        const bool is_near = count == 0 || yk_nccl_staging_is_on_device(op->own);
        if (!is_near) {
            yk_nccl_staging_copy(world, place, op->own, (size_t)count * op->size);
        }
        (void)yk_nccl_device_all_gather(group, is_near && count > 0 ? op->own : place, op->whole,
                                        op->firsts, op->size);
    }
    yk_nccl_enqueue_leave(world);
}

/* ---- scatter ---- */

/* This member's sum, on the device, to its place in `own`; `spare` has room for as much. */
static void store_sum(const struct yk_comm_reduce_scatter *op, int64_t at, void *sum, int64_t count,
                      enum yk_comm_type travels, void *spare)
{
    struct yk_comm_world *world = op->group->world;
    void *own = yk_comm_elements_at(op->type, op->own, at);
    if (op->added && count > 0) {
        yk_nccl_staging_load(world, spare, travels, own, op->type, count);
        yk_nccl_staging_add(world, sum, spare, count, travels);
    }
    yk_nccl_staging_store(world, own, op->type, sum, travels, count);
}

static void reduce_scatter_in_blocks(const struct yk_comm_reduce_scatter *op,
                                     enum yk_comm_type travels)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t block =
        YK_NCCL_STAGE_BYTES / (group->members + 1) / (int64_t)yk_comm_type_bytes(travels);
    const int64_t blocks = block_count(group, op->firsts, block);
    bool goes = true;
    for (int64_t b = 0; goes && b < blocks; b++) {
        pack_blocks(group, op->firsts, block, b);
        for (int32_t i = 0; i < group->members; i++) {
            yk_nccl_staging_load(
                world, yk_comm_elements_at(travels, world->travel, group->firsts[i]), travels,
                yk_comm_elements_at(op->type, op->whole, op->firsts[i] + b * block), op->type,
                packed(group, i));
        }
        void *sum = yk_comm_elements_at(travels, world->travel, group->firsts[group->me]);
        goes = yk_nccl_device_reduce_scatter(group, world->travel, sum, group->firsts, travels);
        store_sum(op, b * block, sum, packed(group, group->me), travels,
                  yk_comm_elements_at(travels, world->travel, group->members * block));
    }
}

/* The sum goes to `own` itself, or by way of this member's place in `whole`. */
static void reduce_scatter_directly(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t count = op->firsts[group->me + 1] - op->firsts[group->me];
    char *place = yk_comm_elements_at(op->type, op->whole, op->firsts[group->me]);
    const bool is_near = count > 0 && yk_nccl_staging_is_on_device(op->own);
    void *out = is_near && !op->added ? op->own : place;
    if (!yk_nccl_device_reduce_scatter(group, op->whole, out, op->firsts, op->type)) {
        return;
    }
    if (is_near && op->added) {
        yk_nccl_staging_add(world, op->own, place, count, op->type);
        return;
    }
    const int64_t most = YK_NCCL_STAGE_BYTES / (int64_t)yk_comm_type_bytes(op->type);
    for (int64_t at = 0; !is_near && at < count; at += most) {
        store_sum(op, at, yk_comm_elements_at(op->type, place, at), yk_nccl_min(count - at, most),
                  op->type, world->travel);
    }
}

void yk_nccl_enqueue_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    const enum yk_comm_type travels = yk_nccl_wire_type(op->type, op->wide);
    if (op->firsts[group->members] == op->firsts[0] || !yk_nccl_enqueue_enter(group->world)) {
        return;
    }
    if (travels == op->type && yk_nccl_staging_is_on_device(op->whole)) {
        reduce_scatter_directly(op);
    } else {
        reduce_scatter_in_blocks(op, travels);
    }
    yk_nccl_enqueue_leave(group->world);
}
