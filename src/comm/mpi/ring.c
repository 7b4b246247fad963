/*
 * Gather, scatter and reduce around a ring: each member speaks to the next and listens to the one
 * before, in the order of the group. Block b of every part goes round before block b + 1 does, so
 * that sums on their way need no more room than two blocks.
 */
#include "comm/mpi/ring.h"

#include "comm/mpi/transfer.h"
#include "comm/sums.h"

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

/* Block `number` of a member's part, where a thing of the parts is `unit` long; none when the part
 * has fewer. */
static struct span block_of(const int64_t *firsts, int64_t unit, int32_t member, int64_t number,
                            int64_t block)
{
    const int64_t first = firsts[member] * unit + number * block;
    const int64_t left = firsts[member + 1] * unit - first;
    return (struct span){first, left < 0 ? 0 : left < block ? left : block};
}

static int64_t most_blocks(const int64_t *firsts, int64_t unit, int32_t members, int64_t block)
{
    int64_t most = 0;
    for (int32_t i = 0; i < members; i++) {
        const int64_t blocks = ((firsts[i + 1] - firsts[i]) * unit + block - 1) / block;
        most = blocks > most ? blocks : most;
    }
    return most;
}

/* To the next member, and at the same time from the one before. */
static bool swap(const struct yk_comm_group *group, void *out, size_t out_size, void *in,
                 size_t in_size)
{
    const int32_t next = group->ranks[(group->me + 1) % group->members];
    const int32_t last = group->ranks[member_before(group, 1)];
    const struct yk_mpi_piece pieces[] = {
        {in, in_size, last, group->tag, false},
        {out, out_size, next, group->tag, true},
    };
    return yk_mpi_transfer(group->world, pieces, 2);
}

bool yk_mpi_ring_gather(const struct yk_comm_gather *op)
{
    const struct yk_comm_group *group = op->group;
    const int64_t unit = (int64_t)op->size;
    const int64_t block = (int64_t)group->world->options.block_bytes;
    char *whole = op->whole;
    char *place = whole + op->firsts[group->me] * unit;
    const int64_t own_size = (op->firsts[group->me + 1] - op->firsts[group->me]) * unit;
    if (place != op->own && own_size > 0) {
        memcpy(place, op->own, (size_t)own_size);
    }
    const int64_t blocks = most_blocks(op->firsts, unit, group->members, block);
    for (int64_t b = 0; b < blocks; b++) {
        for (int32_t step = 0; step < group->members - 1; step++) {
            const struct span out =
                block_of(op->firsts, unit, member_before(group, step), b, block);
            const struct span in =
                block_of(op->firsts, unit, member_before(group, step + 1), b, block);
            if (!swap(group, whole + out.first, (size_t)out.count, whole + in.first,
                      (size_t)in.count)) {
                return false;
            }
        }
    }
    return true;
}

/* What sums travel as: fp32 for 16-bit numbers that are summed wide. */
static enum yk_comm_type travel_type(const struct yk_comm_scatter *op)
{
    return op->wide && yk_comm_is_half(op->type) ? YK_COMM_FP32 : op->type;
}

/* The numbers of `whole` as they travel: in `room`, or where they are. */
static void *lift(const struct yk_comm_scatter *op, struct span span, void *room)
{
    void *numbers = yk_comm_at(op->type, op->whole, span.first);
    if (travel_type(op) == op->type) {
        return numbers;
    }
    yk_comm_widen(op->type, span.count, numbers, room);
    return room;
}

enum {
    CHUNK = 512 /* 16-bit numbers that are fp32 at a time */
};

/* sum += the 16-bit numbers, in fp32. */
static void add_widened(enum yk_comm_type type, int64_t count, const void *numbers, float *sum)
{
    float some[CHUNK];
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int64_t now = count - at < CHUNK ? count - at : CHUNK;
        yk_comm_widen(type, now, yk_comm_at(type, numbers, at), some);
        yk_comm_add(YK_COMM_FP32, now, some, sum + at);
    }
}

/* sum += numbers, where the sum is as it travels. */
static void add(const struct yk_comm_scatter *op, int64_t count, const void *numbers, void *sum)
{
    if (travel_type(op) == op->type) {
        yk_comm_add(op->type, count, numbers, sum);
    } else {
        add_widened(op->type, count, numbers, sum);
    }
}

/* The block's sum, all members' by now, to its place in `own`. */
static void settle(const struct yk_comm_scatter *op, struct span span, void *sum)
{
    void *own = yk_comm_at(op->type, op->own, span.first - op->firsts[op->group->me]);
    if (op->added && span.count > 0) {
        add(op, span.count, own, sum);
    }
    if (travel_type(op) != op->type) {
        yk_comm_narrow(op->type, span.count, sum, own);
    } else if (own != sum && span.count > 0) {
        memcpy(own, sum, (size_t)span.count * yk_comm_width(op->type));
    }
}

static bool scatter_block(const struct yk_comm_scatter *op, int64_t number, int64_t block)
{
    const struct yk_comm_group *group = op->group;
    void *const *stages = group->world->stages;
    const size_t width = yk_comm_width(travel_type(op));
    struct span out = block_of(op->firsts, 1, member_before(group, 1), number, block);
    void *outgoing = lift(op, out, stages[0]);
    for (int32_t step = 0; step < group->members - 1; step++) {
        const struct span in =
            block_of(op->firsts, 1, member_before(group, step + 2), number, block);
        void *incoming = stages[(step + 1) % 2];
        if (!swap(group, outgoing, (size_t)out.count * width, incoming, (size_t)in.count * width)) {
            return false;
        }
        add(op, in.count, yk_comm_at(op->type, op->whole, in.first), incoming);
        out = in;
        outgoing = incoming;
    }
    settle(op, out, outgoing);
    return true;
}

bool yk_mpi_ring_scatter(const struct yk_comm_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    const int64_t block =
        (int64_t)(group->world->options.block_bytes / yk_comm_width(travel_type(op)));
    const int64_t blocks = most_blocks(op->firsts, 1, group->members, block);
    for (int64_t b = 0; b < blocks; b++) {
        if (!scatter_block(op, b, block)) {
            return false;
        }
    }
    return true;
}

bool yk_mpi_ring_reduce(const struct yk_comm_reduce *op)
{
    struct yk_comm_group *group = op->group;
    const size_t width = yk_comm_width(op->type);
    const int64_t rest = op->count % group->members;
    for (int32_t i = 0; i <= group->members; i++) {
        group->firsts[i] = op->count / group->members * i + (i < rest ? i : rest);
    }
    void *own = yk_comm_at(op->type, op->numbers, group->firsts[group->me]);
    const struct yk_comm_scatter scatter = {
        .group = group,
        .whole = op->numbers,
        .own = own,
        .firsts = group->firsts,
        .type = op->type,
        .wide = op->wide,
    };
    const struct yk_comm_gather gather = {
        .group = group,
        .own = own,
        .whole = op->numbers,
        .firsts = group->firsts,
        .size = width,
    };
    return yk_mpi_ring_scatter(&scatter) && yk_mpi_ring_gather(&gather);
}
