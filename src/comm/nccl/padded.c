/*
 * Parts that are not equal, as equal ones: each takes the room of the longest in the memory that
 * blocks travel in, and what fills the others up is nobody's.
 *
 * NCCL's exchanges of equal parts take less than half as long as a broadcast, or a sum, for each
 * part (2.0 against 4.7 ms for 5 MB among three ranks over sockets), so that up to twice the bytes
 * may go by them. It is also what plans count with: the largest part.
 */
#include "comm/nccl/world.h"

/* How much of part i is in the block from `at` on. */
static int64_t count_of(const int64_t *firsts, int32_t i, int64_t at, int64_t block)
{
    const int64_t left = firsts[i + 1] - firsts[i] - at;
    return left < 0 ? 0 : yk_nccl_min(left, block);
}

static int64_t longest_of(const struct yk_comm_group *group, const int64_t *firsts)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < group->members; i++) {
        const int64_t length = firsts[i + 1] - firsts[i];
        longest = length > longest ? length : longest;
    }
    return longest;
}

static bool is_travelling(const struct yk_comm_world *world, const void *memory)
{
    const char *byte = memory;
    return byte >= world->travel && byte < world->travel + YK_NCCL_STAGE_BYTES;
}

bool yk_nccl_padded_suits(const struct yk_comm_group *group, const void *whole,
                          const int64_t *firsts, size_t size)
{
    const int64_t all = firsts[group->members] - firsts[0];
    return !is_travelling(group->world, whole) &&
           longest_of(group, firsts) * group->members <= 2 * all &&
           (size_t)group->members * size <= YK_NCCL_STAGE_BYTES;
}

ncclResult_t yk_nccl_padded_all_gather(const struct yk_comm_group *group, const void *own,
                                       void *whole, const int64_t *firsts, size_t size)
{
    struct yk_comm_world *world = group->world;
    const int64_t longest = longest_of(group, firsts);
    const int64_t block = YK_NCCL_STAGE_BYTES / group->members / (int64_t)size;
    ncclResult_t result = ncclSuccess;
    for (int64_t at = 0; result == ncclSuccess && at < longest; at += block) {
        const size_t room = (size_t)yk_nccl_min(longest - at, block) * size;
        char *mine = world->travel + (size_t)group->me * room;
        yk_nccl_staging_copy(world, mine, (const char *)own + at * (int64_t)size,
                             (size_t)count_of(firsts, group->me, at, block) * size);
        result = !yk_nccl_may_use(world) ? ncclRemoteError
                                         : ncclAllGather(mine, world->travel, room, ncclUint8,
                                                         group->comm, world->stream);
        for (int32_t i = 0; result == ncclSuccess && i < group->members; i++) {
            yk_nccl_staging_copy(world, (char *)whole + (firsts[i] + at) * (int64_t)size,
                                 world->travel + (size_t)i * room,
                                 (size_t)count_of(firsts, i, at, block) * size);
        }
    }
    return result;
}

ncclResult_t yk_nccl_padded_reduce_scatter(const struct yk_comm_group *group, const void *whole,
                                           void *out, const int64_t *firsts, enum yk_comm_type type,
                                           ncclDataType_t as)
{
    struct yk_comm_world *world = group->world;
    const size_t size = yk_comm_type_bytes(type);
    const int64_t longest = longest_of(group, firsts);
    const int64_t block = YK_NCCL_STAGE_BYTES / group->members / (int64_t)size;
    ncclResult_t result = ncclSuccess;
    for (int64_t at = 0; result == ncclSuccess && at < longest; at += block) {
        const int64_t room = yk_nccl_min(longest - at, block);
        char *mine = yk_comm_elements_at(type, world->travel, group->me * room);
        for (int32_t i = 0; i < group->members; i++) {
            yk_nccl_staging_copy(world, yk_comm_elements_at(type, world->travel, i * room),
                                 yk_comm_elements_at(type, whole, firsts[i] + at),
                                 (size_t)count_of(firsts, i, at, block) * size);
        }
        result = !yk_nccl_may_use(world) ? ncclRemoteError
                                         : ncclReduceScatter(world->travel, mine, (size_t)room, as,
                                                             ncclSum, group->comm, world->stream);
        if (result == ncclSuccess) {
            yk_nccl_staging_copy(world, yk_comm_elements_at(type, out, at), mine,
                                 (size_t)count_of(firsts, group->me, at, block) * size);
        }
    }
    return result;
}
