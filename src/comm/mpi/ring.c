/*
 * Ring algorithms for all_gather, reduce_scatter and all_reduce: each member sends to the next one
 * and receives from the previous one, in the order of the group. Block b of every part passes
 * around the ring before block b + 1, so that partial sums need only two blocks of memory.
 */
#include "comm/mpi/mpi_internal.h"

#include "comm/host_arithmetic.h"
#include "comm/part_offsets.h"

#include <string.h>

/* Numbers, or bytes, from `first` on. */
struct span {
    int64_t first;
    int64_t count;
};

static int32_t member_before(const struct yk_comm_group *group, int32_t steps)
{
    return (int32_t)(((int64_t)group->me - steps + 2 * (int64_t)group->members) % group->members);
}

/* Block `at` of a member's part, where an element is `unit` long; empty if the part is shorter. */
static struct span block_of(const int64_t *firsts, int64_t unit, int32_t member, int64_t at,
                            int64_t block)
{
    const int64_t first = firsts[member] * unit + at;
    const int64_t left = firsts[member + 1] * unit - first;
    return (struct span){first, left < 0 ? 0 : yk_number_min(left, block)};
}

/* To the next member, and at the same time from the one before. */
static bool swap(const struct yk_comm_group *group, struct yk_mpi_transfer_segment out,
                 struct yk_mpi_transfer_segment in)
{
    in.peer = group->ranks[member_before(group, 1)];
    out.peer = group->ranks[(group->me + 1) % group->members];
    in.tag = out.tag = group->tag;
    out.is_sent = true;
    const struct yk_mpi_transfer_segment segments[] = {in, out};
    return yk_mpi_transfer_segments(group->world, segments, 2);
}

bool yk_mpi_ring_all_gather(const struct yk_comm_all_gather *op)
{
    const struct yk_comm_group *group = op->group;
    const int64_t unit = (int64_t)op->element_bytes;
    const int64_t block = (int64_t)group->world->options.block_bytes;
    char *whole = op->whole;
    char *place = whole + op->offsets[group->me] * unit;
    const int64_t own_size = (op->offsets[group->me + 1] - op->offsets[group->me]) * unit;
    if (place != op->own && own_size > 0) {
        memcpy(place, op->own, (size_t)own_size);
    }
    const int64_t longest = yk_part_offsets_max_length(op->offsets, group->members) * unit;
    for (int64_t at = 0; at < longest; at += block) {
        for (int32_t step = 0; step < group->members - 1; step++) {
            const struct span out =
                block_of(op->offsets, unit, member_before(group, step), at, block);
            const struct span in =
                block_of(op->offsets, unit, member_before(group, step + 1), at, block);
            if (!swap(group,
                      (struct yk_mpi_transfer_segment){.bytes = whole + out.first,
                                                       .size = (size_t)out.count},
                      (struct yk_mpi_transfer_segment){.bytes = whole + in.first,
                                                       .size = (size_t)in.count})) {
                return false;
            }
        }
    }
    return true;
}

static enum yk_comm_data_type wire_type(const struct yk_comm_reduce_scatter *op)
{
    return yk_comm_data_type_on_wire(op->type, op->sum_in_fp32);
}

/* The numbers of `whole` as they travel: in `room`, or where they are. */
static void *load(const struct yk_comm_reduce_scatter *op, struct span span, void *room)
{
    void *numbers = yk_comm_data_type_element_pointer(op->type, op->whole, span.first);
    if (wire_type(op) == op->type) {
        return numbers;
    }
    yk_host_arithmetic_convert_to_fp32(op->type, span.count, numbers, room);
    return room;
}

/* sum += numbers, where the sum is as it travels. */
static void add(const struct yk_comm_reduce_scatter *op, int64_t count, const void *numbers,
                void *sum)
{
    if (wire_type(op) == op->type) {
        yk_host_arithmetic_add_arrays(op->type, count, numbers, sum);
    } else {
        yk_host_arithmetic_add_to_fp32_sum(op->type, count, numbers, sum);
    }
}

/* The block's sum, all members' by now, to its place in `own`. */
static void store_sum(const struct yk_comm_reduce_scatter *op, struct span span, void *sum)
{
    void *own = yk_comm_data_type_element_pointer(op->type, op->own,
                                                  span.first - op->offsets[op->group->me]);
    if (op->accumulate && span.count > 0) {
        add(op, span.count, own, sum);
    }
    if (wire_type(op) != op->type) {
        yk_host_arithmetic_convert_from_fp32(op->type, span.count, sum, own);
    } else if (own != sum && span.count > 0) {
        memcpy(own, sum, (size_t)span.count * yk_comm_data_type_bytes(op->type));
    }
}

/* A sum on its way has come, to which this member adds its own numbers. */
struct passing {
    const struct yk_comm_reduce_scatter *op;
    int64_t first; /* of the numbers in `whole` */
    char *sum;
};

/* A part at a time, while it is in the cache. */
static void add_part(void *user, size_t at, size_t size)
{
    const struct passing *passing = user;
    const struct yk_comm_reduce_scatter *op = passing->op;
    const size_t width = yk_comm_data_type_bytes(wire_type(op));
    const int64_t first = passing->first + (int64_t)(at / width);
    add(op, (int64_t)(size / width), yk_comm_data_type_element_pointer(op->type, op->whole, first),
        passing->sum + at);
}

static bool reduce_scatter_block(const struct yk_comm_reduce_scatter *op, int64_t at, int64_t block)
{
    const struct yk_comm_group *group = op->group;
    void *const *stages = group->world->stages;
    const size_t width = yk_comm_data_type_bytes(wire_type(op));
    struct span out = block_of(op->offsets, 1, member_before(group, 1), at, block);
    void *outgoing = load(op, out, stages[0]);
    for (int32_t step = 0; step < group->members - 1; step++) {
        const struct span in = block_of(op->offsets, 1, member_before(group, step + 2), at, block);
        void *incoming = stages[(step + 1) % 2];
        struct passing passing = {op, in.first, incoming};
        if (!swap(group,
                  (struct yk_mpi_transfer_segment){.bytes = outgoing,
                                                   .size = (size_t)out.count * width},
                  (struct yk_mpi_transfer_segment){.bytes = incoming,
                                                   .size = (size_t)in.count * width,
                                                   .arrived = add_part,
                                                   .user = &passing})) {
            return false;
        }
        out = in;
        outgoing = incoming;
    }
    store_sum(op, out, outgoing);
    return true;
}

bool yk_mpi_ring_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    const int64_t block =
        (int64_t)(group->world->options.block_bytes / yk_comm_data_type_bytes(wire_type(op)));
    const int64_t longest = yk_part_offsets_max_length(op->offsets, group->members);
    for (int64_t at = 0; at < longest; at += block) {
        if (!reduce_scatter_block(op, at, block)) {
            return false;
        }
    }
    return true;
}

bool yk_mpi_ring_all_reduce(const struct yk_comm_all_reduce *op)
{
    struct yk_comm_group *group = op->group;
    const size_t width = yk_comm_data_type_bytes(op->type);
    const int64_t rest = op->count % group->members;
    for (int32_t i = 0; i <= group->members; i++) {
        group->firsts[i] = op->count / group->members * i + (i < rest ? i : rest);
    }
    void *own = yk_comm_data_type_element_pointer(op->type, op->numbers, group->firsts[group->me]);
    const struct yk_comm_reduce_scatter reduce_scatter = {
        .group = group,
        .whole = op->numbers,
        .own = own,
        .offsets = group->firsts,
        .type = op->type,
        .sum_in_fp32 = op->sum_in_fp32,
    };
    const struct yk_comm_all_gather all_gather = {
        .group = group,
        .own = own,
        .whole = op->numbers,
        .offsets = group->firsts,
        .element_bytes = width,
    };
    return yk_mpi_ring_reduce_scatter(&reduce_scatter) && yk_mpi_ring_all_gather(&all_gather);
}
