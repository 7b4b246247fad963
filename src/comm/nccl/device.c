/*
 * NCCL's exchanges, of memory of the device.
 *
 * Equal parts go by NCCL's own exchange; where the last is longer, what it has more goes with them.
 * Others are filled up to equal ones (padded.c), unless that would be too much: then they go as a
 * broadcast, or a sum, for each of them, in one launch.
 */
#include "comm/nccl/world.h"

static ncclDataType_t type_of(enum yk_comm_type type)
{
    return type == YK_COMM_BF16   ? ncclBfloat16
           : type == YK_COMM_FP16 ? ncclFloat16
           : type == YK_COMM_FP64 ? ncclFloat64
                                  : ncclFloat32;
}

static bool note(const struct yk_comm_group *group, ncclResult_t result, const char *doing)
{
    return result == ncclSuccess || yk_nccl_world_fail(group->world, result, doing);
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

bool yk_nccl_device_all_reduce(const struct yk_comm_group *group, void *numbers, int64_t count,
                               enum yk_comm_type type)
{
    return yk_nccl_may_use(group->world) &&
           note(group,
                ncclAllReduce(numbers, numbers, (size_t)count, type_of(type), ncclSum, group->comm,
                              group->world->stream),
                "reduce");
}

static ncclResult_t spread_unequal(const struct yk_comm_group *group, const void *own, char *whole,
                                   const int64_t *firsts, size_t size)
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

static ncclResult_t spread_equal(const struct yk_comm_group *group, const void *own, char *whole,
                                 const int64_t *firsts, size_t size)
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

bool yk_nccl_device_all_gather(const struct yk_comm_group *group, const void *own, void *whole,
                               const int64_t *firsts, size_t size)
{
    if (!yk_nccl_may_use(group->world)) {
        return false;
    }
    const ncclResult_t result = are_equal(group, firsts)
                                    ? spread_equal(group, own, whole, firsts, size)
                                : yk_nccl_padded_suits(group, whole, firsts, size)
                                    ? yk_nccl_padded_all_gather(group, own, whole, firsts, size)
                                    : spread_unequal(group, own, whole, firsts, size);
    return note(group, result, "gather");
}

static ncclResult_t sum_unequal(const struct yk_comm_group *group, const void *whole, void *out,
                                const int64_t *firsts, enum yk_comm_type type)
{
    ncclResult_t result = ncclGroupStart();
    for (int32_t i = 0; result == ncclSuccess && i < group->members; i++) {
        void *place = yk_comm_elements_at(type, whole, firsts[i]);
        const size_t count = (size_t)(firsts[i + 1] - firsts[i]);
        if (count > 0) {
            result = ncclReduce(place, i == group->me ? out : place, count, type_of(type), ncclSum,
                                i, group->comm, group->world->stream);
        }
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

static ncclResult_t sum_equal(const struct yk_comm_group *group, const void *whole, void *out,
                              const int64_t *firsts, enum yk_comm_type type)
{
    const int32_t last = group->members - 1;
    const int64_t length = firsts[1] - firsts[0];
    const int64_t rest = rest_of(group, firsts);
    void *place = yk_comm_elements_at(type, whole, rest);
    ncclResult_t result = ncclGroupStart();
    if (result == ncclSuccess && length > 0) {
        result = ncclReduceScatter(yk_comm_elements_at(type, whole, firsts[0]), out, (size_t)length,
                                   type_of(type), ncclSum, group->comm, group->world->stream);
    }
    if (result == ncclSuccess && firsts[group->members] > rest) {
        result =
            ncclReduce(place, group->me == last ? yk_comm_elements_at(type, out, length) : place,
                       (size_t)(firsts[group->members] - rest), type_of(type), ncclSum, last,
                       group->comm, group->world->stream);
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

bool yk_nccl_device_reduce_scatter(const struct yk_comm_group *group, const void *whole, void *out,
                                   const int64_t *firsts, enum yk_comm_type type)
{
    if (!yk_nccl_may_use(group->world)) {
        return false;
    }
    const ncclResult_t result =
        are_equal(group, firsts) ? sum_equal(group, whole, out, firsts, type)
        : yk_nccl_padded_suits(group, whole, firsts, yk_comm_type_bytes(type))
            ? yk_nccl_padded_reduce_scatter(group, whole, out, firsts, type, type_of(type))
            : sum_unequal(group, whole, out, firsts, type);
    return note(group, result, "scatter");
}

bool yk_nccl_device_broadcast(const struct yk_comm_group *group, void *bytes, size_t size,
                              int32_t from)
{
    return yk_nccl_may_use(group->world) && note(group,
                                                 ncclBroadcast(bytes, bytes, size, ncclUint8, from,
                                                               group->comm, group->world->stream),
                                                 "broadcast");
}

bool yk_nccl_device_message(struct yk_comm_world *world, void *bytes, size_t size, int32_t peer,
                            bool is_sent)
{
    if (!yk_nccl_may_use(world)) {
        return false;
    }
    const ncclResult_t result =
        is_sent ? ncclSend(bytes, size, ncclUint8, peer, world->comm, world->stream)
                : ncclRecv(bytes, size, ncclUint8, peer, world->comm, world->stream);
    return result == ncclSuccess || yk_nccl_world_fail(world, result, is_sent ? "send" : "receive");
}
