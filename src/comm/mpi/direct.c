#include "comm/mpi/mpi_internal.h"

#include "comm/host_arithmetic.h"

#include <assert.h>
#include <string.h>

enum {
    FEW_BYTES = 16 << 10,
    FEW_MEMBERS = YK_MPI_MAX_SEGMENTS / 2,
};

static size_t bytes_of(const struct yk_comm_all_reduce *op)
{
    return (size_t)op->count * yk_comm_data_type_bytes(op->type);
}

bool yk_mpi_direct_is_faster_than_ring(const struct yk_comm_all_reduce *op)
{
    const size_t bytes = bytes_of(op);
    const size_t members = (size_t)op->group->members;
    return bytes <= FEW_BYTES && members <= FEW_MEMBERS &&
           bytes * (members < 2 ? 2 : members) <= op->group->world->options.block_bytes;
}

/* What member i has sent, or this member's own. */
static const void *numbers_of(const struct yk_comm_all_reduce *op, int32_t member)
{
    return member == op->group->me
               ? op->numbers
               : (const char *)op->group->world->stages[0] + (size_t)member * bytes_of(op);
}

/* In the order of the members, so that all have the same bits. */
static void sum_up(const struct yk_comm_all_reduce *op)
{
    const bool wide = op->sum_in_fp32 && yk_comm_data_type_is_16_bit(op->type);
    void *sum = op->group->world->stages[1];
    for (int32_t i = 0; i < op->group->members; i++) {
        const void *numbers = numbers_of(op, i);
        if (i == 0 && wide) {
            yk_host_arithmetic_convert_to_fp32(op->type, op->count, numbers, sum);
        } else if (i == 0) {
            memcpy(sum, numbers, bytes_of(op));
        } else if (wide) {
            yk_host_arithmetic_add_to_fp32_sum(op->type, op->count, numbers, sum);
        } else {
            yk_host_arithmetic_add_arrays(op->type, op->count, numbers, sum);
        }
    }
    if (wide) {
        yk_host_arithmetic_convert_from_fp32(op->type, op->count, sum, op->numbers);
    } else {
        memcpy(op->numbers, sum, bytes_of(op));
    }
}

bool yk_mpi_direct_all_reduce(const struct yk_comm_all_reduce *op)
{
    const struct yk_comm_group *group = op->group;
    const size_t bytes = bytes_of(op);
    struct yk_mpi_transfer_segment segments[YK_MPI_MAX_SEGMENTS];
    int count = 0;
    if (bytes == 0 || group->members == 1) {
        return true;
    }
    for (int32_t i = 0; i < group->members; i++) {
        if (i != group->me) {
            char *place = (char *)group->world->stages[0] + (size_t)i * bytes;
            segments[count] = (struct yk_mpi_transfer_segment){
                .bytes = place, .size = bytes, .peer = group->ranks[i], .tag = group->tag};
            segments[count + 1] = segments[count];
            segments[count + 1].bytes = op->numbers;
            segments[count + 1].is_sent = true;
            count += 2;
        }
    }
    assert(count <= YK_MPI_MAX_SEGMENTS);
    if (!yk_mpi_transfer_segments(group->world, segments, count)) {
        return false;
    }
    sum_up(op);
    return true;
}

/* A binomial tree: with the source as place 0, place p receives from p less its lowest set bit and
 * sends to p plus every lower bit. */
static int32_t lowest_bit(int32_t place, int32_t members)
{
    int32_t bit = 1;
    while (bit < members && (place & bit) == 0) {
        bit *= 2;
    }
    return bit;
}

bool yk_mpi_direct_broadcast(const struct yk_comm_broadcast *op)
{
    const struct yk_comm_group *group = op->group;
    const int32_t members = group->members;
    const int32_t place = (group->me - op->root + members) % members;
    const int32_t bit = lowest_bit(place, members);
    const size_t block = group->world->options.block_bytes;
    for (size_t at = 0; at < op->size; at += block) {
        struct yk_mpi_transfer_segment segment = {
            .bytes = (char *)op->bytes + at,
            .size = op->size - at < block ? op->size - at : block,
            .tag = group->tag,
        };
        if (place > 0) {
            segment.peer = group->ranks[(place - bit + op->root) % members];
            if (!yk_mpi_transfer_segments(group->world, &segment, 1)) {
                return false;
            }
        }
        struct yk_mpi_transfer_segment onward[YK_MPI_MAX_SEGMENTS];
        int count = 0;
        segment.is_sent = true;
        for (int32_t lower = bit / 2; lower > 0; lower /= 2) {
            if (place + lower < members) {
                segment.peer = group->ranks[(place + lower + op->root) % members];
                onward[count++] = segment;
            }
        }
        if (!yk_mpi_transfer_segments(group->world, onward, count)) {
            return false;
        }
    }
    return true;
}

/* Messages of one tag arrive in the order in which they were sent. */
bool yk_mpi_direct_send_or_recv(const struct yk_comm_send_recv *op, bool is_sent)
{
    struct yk_comm_world *world = op->world;
    const size_t block = world->options.block_bytes;
    const int32_t tags = world->tag_limit - YK_MPI_COLLECTIVE_TAG_COUNT;
    if (op->peer == world->rank || op->peer < 0 || op->peer >= world->size) {
        yk_first_failure_set(&world->failure, YK_ERROR_INPUT,
                             "message %d between rank %d and rank %d of %d cannot be", (int)op->tag,
                             world->rank, (int)op->peer, world->size);
        return false;
    }
    for (size_t at = 0; at < op->size; at += block) {
        const struct yk_mpi_transfer_segment segment = {
            .bytes = (char *)op->bytes + at,
            .size = op->size - at < block ? op->size - at : block,
            .peer = op->peer,
            .tag = YK_MPI_COLLECTIVE_TAG_COUNT + op->tag % tags,
            .is_sent = is_sent,
        };
        if (!yk_mpi_transfer_segments(world, &segment, 1)) {
            return false;
        }
    }
    return true;
}
