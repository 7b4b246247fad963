/*
 * NCCL's exchanges, of memory of the device.
 *
 * Parts that are not equal go as a broadcast, or a sum, for each of them, in one launch. Each goes
 * around NCCL's ring, so that every link carries each part once at most, as with equal ones; if
 * every member sent its part to each of the others, the link of the member with the largest part
 * would carry it as often as there are others.
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
    return result == ncclSuccess || yk_nccl_fail(group->world, result, doing);
}

static bool are_equal(const struct yk_comm_group *group, const int64_t *firsts)
{
    for (int32_t i = 1; i < group->members; i++) {
        if (firsts[i + 1] - firsts[i] != firsts[1] - firsts[0]) {
            return false;
        }
    }
    return true;
}

bool yk_nccl_sum(const struct yk_comm_group *group, void *numbers, int64_t count,
                 enum yk_comm_type type)
{
    return note(group,
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

bool yk_nccl_spread(const struct yk_comm_group *group, const void *own, void *whole,
                    const int64_t *firsts, size_t size)
{
    char *begin = (char *)whole + firsts[0] * (int64_t)size;
    if (are_equal(group, firsts)) {
        return note(group,
                    ncclAllGather(own, begin, (size_t)(firsts[1] - firsts[0]) * size, ncclUint8,
                                  group->comm, group->world->stream),
                    "gather");
    }
    return note(group, spread_unequal(group, own, whole, firsts, size), "gather");
}

static ncclResult_t sum_unequal(const struct yk_comm_group *group, const void *whole, void *out,
                                const int64_t *firsts, enum yk_comm_type type)
{
    ncclResult_t result = ncclGroupStart();
    for (int32_t i = 0; result == ncclSuccess && i < group->members; i++) {
        void *place = yk_comm_at(type, whole, firsts[i]);
        const size_t count = (size_t)(firsts[i + 1] - firsts[i]);
        if (count > 0) {
            result = ncclReduce(place, i == group->me ? out : place, count, type_of(type), ncclSum,
                                i, group->comm, group->world->stream);
        }
    }
    const ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

bool yk_nccl_sum_parts(const struct yk_comm_group *group, const void *whole, void *out,
                       const int64_t *firsts, enum yk_comm_type type)
{
    if (are_equal(group, firsts)) {
        return note(group,
                    ncclReduceScatter(yk_comm_at(type, whole, firsts[0]), out,
                                      (size_t)(firsts[1] - firsts[0]), type_of(type), ncclSum,
                                      group->comm, group->world->stream),
                    "scatter");
    }
    return note(group, sum_unequal(group, whole, out, firsts, type), "scatter");
}

bool yk_nccl_tell(const struct yk_comm_group *group, void *bytes, size_t size, int32_t from)
{
    return note(
        group,
        ncclBroadcast(bytes, bytes, size, ncclUint8, from, group->comm, group->world->stream),
        "broadcast");
}

bool yk_nccl_pass(struct yk_comm_world *world, void *bytes, size_t size, int32_t peer, bool is_sent)
{
    const ncclResult_t result =
        is_sent ? ncclSend(bytes, size, ncclUint8, peer, world->comm, world->stream)
                : ncclRecv(bytes, size, ncclUint8, peer, world->comm, world->stream);
    return result == ncclSuccess || yk_nccl_fail(world, result, is_sent ? "send" : "receive");
}
