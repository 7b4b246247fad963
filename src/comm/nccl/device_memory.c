/*
 * NCCL collectives on device memory.
 *
 * Parts of equal size use ncclAllGather or ncclReduceScatter. If only the last part is longer, its
 * extra elements are sent in the same launch. Other parts are padded to equal size. If this needs
 * too much padding, each part is one ncclBroadcast or ncclReduce, all in one launch.
 */
#include "comm/nccl/nccl_internal.h"

/* Whether the communicators may still be used: false once the abort has begun. Check it again
 * before each NCCL call, because enqueueing can block on a full stream. */
static bool is_usable(const struct yk_comm_world *world)
{
    return !atomic_load(&world->aborted);
}

static ncclDataType_t type_of(enum yk_comm_data_type type)
{
    return type == YK_COMM_BF16   ? ncclBfloat16
           : type == YK_COMM_FP16 ? ncclFloat16
           : type == YK_COMM_FP64 ? ncclFloat64
                                  : ncclFloat32;
}

static bool note(const struct yk_comm_group *group, ncclResult_t result, const char *doing)
{
    return result == ncclSuccess || yk_nccl_call_set_world_failure(group->world, result, doing);
}

/* Whether all parts are as long as the first, but for the last one, which may be longer. */
static bool are_equal(const struct yk_comm_group *group, const int64_t *firsts)
{
    const int64_t length = firsts[1] - firsts[0];
    for (int32_t i = 1; i < group->members; i++) {
        const int64_t other = firsts[i + 1] - firsts[i];
        if (i + 1 < group->members ? other != length : other < length) {
            return false;
        }
    }
    return true;
}

/* Where that begins which the last part has more than the others. */
static int64_t rest_of(const struct yk_comm_group *group, const int64_t *firsts)
{
    return firsts[0] + group->members * (firsts[1] - firsts[0]);
}

/* ---- padded parts ---- */

/*
 * Each part occupies as much of the stage as the longest; what pads the others is not used. NCCL's
 * collectives of equal parts take less than half as long as a broadcast, or a sum, for each part
 * (2.0 against 4.7 ms for 5 MB among three ranks over sockets), so that up to twice the bytes may
 * go by them. It is also what plans count with: the largest part.
 */

static bool is_in_stage(const struct yk_comm_world *world, const void *memory)
{
    const char *byte = memory;
    return byte >= world->stage && byte < world->stage + YK_NCCL_DEVICE_STAGE_BYTES;
}

static bool suits_padding(const struct yk_comm_group *group, const void *whole,
                          const int64_t *firsts, size_t size)
{
    const int64_t all = firsts[group->members] - firsts[0];
    return !is_in_stage(group->world, whole) &&
           yk_part_offsets_max_length(firsts, group->members) * group->members <= 2 * all &&
           (size_t)group->members * size <= YK_NCCL_DEVICE_STAGE_BYTES;
}

static ncclResult_t all_gather_padded(const struct yk_comm_group *group, const void *own,
                                      void *whole, const int64_t *firsts, size_t size)
{
    struct yk_comm_world *world = group->world;
    const int64_t longest = yk_part_offsets_max_length(firsts, group->members);
    const int64_t block = YK_NCCL_DEVICE_STAGE_BYTES / group->members / (int64_t)size;
    ncclResult_t result = ncclSuccess;
    for (int64_t at = 0; result == ncclSuccess && at < longest; at += block) {
        const size_t room = (size_t)yk_number_min(longest - at, block) * size;
        char *mine = world->stage + (size_t)group->me * room;
        yk_nccl_staging_enqueue_copy(
            world, mine, (const char *)own + at * (int64_t)size,
            (size_t)yk_part_offsets_block_length(firsts, group->me, at, block) * size);
        result = !is_usable(world) ? ncclRemoteError
                                   : ncclAllGather(mine, world->stage, room, ncclUint8, group->comm,
                                                   world->stream);
        for (int32_t i = 0; result == ncclSuccess && i < group->members; i++) {
            yk_nccl_staging_enqueue_copy(
                world, (char *)whole + (firsts[i] + at) * (int64_t)size,
                world->stage + (size_t)i * room,
                (size_t)yk_part_offsets_block_length(firsts, i, at, block) * size);
        }
    }
    return result;
}

static ncclResult_t reduce_scatter_padded(const struct yk_comm_group *group, const void *whole,
                                          void *out, const int64_t *firsts,
                                          enum yk_comm_data_type type)
{
    struct yk_comm_world *world = group->world;
    const size_t size = yk_comm_data_type_bytes(type);
    const int64_t longest = yk_part_offsets_max_length(firsts, group->members);
    const int64_t block = YK_NCCL_DEVICE_STAGE_BYTES / group->members / (int64_t)size;
    ncclResult_t result = ncclSuccess;
    for (int64_t at = 0; result == ncclSuccess && at < longest; at += block) {
        const int64_t room = yk_number_min(longest - at, block);
        char *mine = yk_comm_data_type_element_pointer(type, world->stage, group->me * room);
        for (int32_t i = 0; i < group->members; i++) {
            yk_nccl_staging_enqueue_copy(
                world, yk_comm_data_type_element_pointer(type, world->stage, i * room),
                yk_comm_data_type_element_pointer(type, whole, firsts[i] + at),
                (size_t)yk_part_offsets_block_length(firsts, i, at, block) * size);
        }
        result = !is_usable(world)
                     ? ncclRemoteError
                     : ncclReduceScatter(world->stage, mine, (size_t)room, type_of(type), ncclSum,
                                         group->comm, world->stream);
        if (result == ncclSuccess) {
            yk_nccl_staging_enqueue_copy(
                world, yk_comm_data_type_element_pointer(type, out, at), mine,
                (size_t)yk_part_offsets_block_length(firsts, group->me, at, block) * size);
        }
    }
    return result;
}

/* ---- collectives ---- */

bool yk_nccl_device_memory_all_reduce(const struct yk_comm_group *group, void *numbers,
                                      int64_t count, enum yk_comm_data_type type)
{
    return is_usable(group->world) &&
           note(group,
                ncclAllReduce(numbers, numbers, (size_t)count, type_of(type), ncclSum, group->comm,
                              group->world->stream),
                "reduce");
}

static ncclResult_t all_gather_unequal(const struct yk_comm_group *group, const void *own,
                                       char *whole, const int64_t *firsts, size_t size)
{
    ncclResult_t result = ncclGroupStart();
    for (int32_t i = 0; result == ncclSuccess && i < group->members; i++) {
        char *place = whole + firsts[i] * (int64_t)size;
        const size_t bytes = (size_t)(firsts[i + 1] - firsts[i]) * size;
        if (bytes > 0) {
            result = ncclBroadcast(i == group->me ? own : place, place, bytes, ncclUint8, i,
                                   group->comm, group->world->stream);
        }
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

static ncclResult_t all_gather_equal(const struct yk_comm_group *group, const void *own,
                                     char *whole, const int64_t *firsts, size_t size)
{
    const int32_t last = group->members - 1;
    const size_t length = (size_t)(firsts[1] - firsts[0]) * size;
    const int64_t rest = rest_of(group, firsts);
    char *place = whole + rest * (int64_t)size;
    ncclResult_t result = ncclGroupStart();
    if (result == ncclSuccess && length > 0) {
        result = ncclAllGather(own, whole + firsts[0] * (int64_t)size, length, ncclUint8,
                               group->comm, group->world->stream);
    }
    if (result == ncclSuccess && firsts[group->members] > rest) {
        result = ncclBroadcast(group->me == last ? (const char *)own + length : place, place,
                               (size_t)(firsts[group->members] - rest) * size, ncclUint8, last,
                               group->comm, group->world->stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

bool yk_nccl_device_memory_all_gather(const struct yk_comm_group *group, const void *own,
                                      void *whole, const int64_t *firsts, size_t size)
{
    if (!is_usable(group->world)) {
        return false;
    }
    const ncclResult_t result = are_equal(group, firsts)
                                    ? all_gather_equal(group, own, whole, firsts, size)
                                : suits_padding(group, whole, firsts, size)
                                    ? all_gather_padded(group, own, whole, firsts, size)
                                    : all_gather_unequal(group, own, whole, firsts, size);
    return note(group, result, "gather");
}

static ncclResult_t reduce_scatter_unequal(const struct yk_comm_group *group, const void *whole,
                                           void *out, const int64_t *firsts,
                                           enum yk_comm_data_type type)
{
    ncclResult_t result = ncclGroupStart();
    for (int32_t i = 0; result == ncclSuccess && i < group->members; i++) {
        void *place = yk_comm_data_type_element_pointer(type, whole, firsts[i]);
        const size_t count = (size_t)(firsts[i + 1] - firsts[i]);
        if (count > 0) {
            result = ncclReduce(place, i == group->me ? out : place, count, type_of(type), ncclSum,
                                i, group->comm, group->world->stream);
        }
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

static ncclResult_t reduce_scatter_equal(const struct yk_comm_group *group, const void *whole,
                                         void *out, const int64_t *firsts,
                                         enum yk_comm_data_type type)
{
    const int32_t last = group->members - 1;
    const int64_t length = firsts[1] - firsts[0];
    const int64_t rest = rest_of(group, firsts);
    void *place = yk_comm_data_type_element_pointer(type, whole, rest);
    ncclResult_t result = ncclGroupStart();
    if (result == ncclSuccess && length > 0) {
        result = ncclReduceScatter(yk_comm_data_type_element_pointer(type, whole, firsts[0]), out,
                                   (size_t)length, type_of(type), ncclSum, group->comm,
                                   group->world->stream);
    }
    if (result == ncclSuccess && firsts[group->members] > rest) {
        result = ncclReduce(
            place, group->me == last ? yk_comm_data_type_element_pointer(type, out, length) : place,
            (size_t)(firsts[group->members] - rest), type_of(type), ncclSum, last, group->comm,
            group->world->stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

bool yk_nccl_device_memory_reduce_scatter(const struct yk_comm_group *group, const void *whole,
                                          void *out, const int64_t *firsts,
                                          enum yk_comm_data_type type)
{
    if (!is_usable(group->world)) {
        return false;
    }
    const ncclResult_t result = are_equal(group, firsts)
                                    ? reduce_scatter_equal(group, whole, out, firsts, type)
                                : suits_padding(group, whole, firsts, yk_comm_data_type_bytes(type))
                                    ? reduce_scatter_padded(group, whole, out, firsts, type)
                                    : reduce_scatter_unequal(group, whole, out, firsts, type);
    return note(group, result, "scatter");
}

bool yk_nccl_device_memory_broadcast(const struct yk_comm_group *group, void *bytes, size_t size,
                                     int32_t from)
{
    return is_usable(group->world) && note(group,
                                           ncclBroadcast(bytes, bytes, size, ncclUint8, from,
                                                         group->comm, group->world->stream),
                                           "broadcast");
}

bool yk_nccl_device_memory_send_recv(struct yk_comm_world *world, void *bytes, size_t size,
                                     int32_t peer, bool is_sent)
{
    if (!is_usable(world)) {
        return false;
    }
    const ncclResult_t result =
        is_sent ? ncclSend(bytes, size, ncclUint8, peer, world->comm, world->stream)
                : ncclRecv(bytes, size, ncclUint8, peer, world->comm, world->stream);
    return result == ncclSuccess ||
           yk_nccl_call_set_world_failure(world, result, is_sent ? "send" : "receive");
}
