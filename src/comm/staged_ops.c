/*
 * Exchanges of comm/staged, on the lane: blocks to the host, an exchange there, and back.
 *
 * Every block of an exchange is the same call on the lane. Since the lane runs one at a time and in
 * order, how far the exchange has come is a number of the world's. Such a call may not ask the
 * device anything: whose memory it is about is known when it is put.
 */
#include "comm/staged_world.h"
#include "comm/sums.h"

static void put_call(const struct yk_comm_world *world, void (*function)(void *user),
                     const void *op)
{
    world->options.backend->call(world->options.lane, function, (void *)(uintptr_t)op);
}

static void put_copy(const struct yk_comm_world *world, void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        world->options.backend->copy(world->options.lane, to, from, bytes);
    }
}

static bool is_on_device(const struct yk_comm_world *world, const void *memory)
{
    const struct yk_comm_options *options = &world->options;
    return options->backend->holds && options->backend->holds(options->device, memory);
}

/* On the lane: what the other world has been given to do is done. */
static void finish(struct yk_comm_world *world)
{
    const yk_status status = yk_ranks_finish(world->through);
    if (status != YK_OK) {
        yk_trouble_set(&world->trouble, status, yk_status_message());
    }
}

/* A block of `all` bytes or things is done; the next exchange begins at its own beginning. */
static void advance(struct yk_comm_world *world, int64_t by, int64_t all)
{
    world->done += by;
    if (world->done >= all) {
        world->done = 0;
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- sums ---- */

static int64_t reduce_block(const struct yk_comm_reduce *op)
{
    const size_t width = yk_comm_width(op->type);
    return (int64_t)(op->group->world->options.block_bytes / width);
}

static void exchange_reduce(const struct yk_comm_reduce *op, bool staged)
{
    struct yk_comm_world *world = op->group->world;
    struct yk_comm_reduce inner = *op;
    inner.group = op->group->through;
    if (staged) {
        inner.numbers = world->stage;
        inner.count = least(reduce_block(op), op->count - world->done);
    }
    if (!yk_trouble_is(&world->trouble)) {
        world->through->comm->reduce(&inner);
        finish(world);
    }
    advance(world, inner.count, op->count);
}

static void stage_reduce(void *user)
{
    exchange_reduce(user, true);
}

static void pass_reduce(void *user)
{
    exchange_reduce(user, false);
}

void yk_staged_reduce(const struct yk_comm_reduce *op)
{
    struct yk_comm_world *world = op->group->world;
    const size_t width = yk_comm_width(op->type);
    const int64_t block = reduce_block(op);
    if (!is_on_device(world, op->numbers)) {
        put_call(world, pass_reduce, op);
        return;
    }
    for (int64_t at = 0; at < op->count; at += block) {
        char *place = (char *)op->numbers + (size_t)at * width;
        const size_t bytes = (size_t)least(block, op->count - at) * width;
        put_copy(world, world->stage, place, bytes);
        put_call(world, stage_reduce, op);
        put_copy(world, place, world->stage, bytes);
    }
}

/* ---- parts ---- */

/* Parts are exchanged a slice of each at a time, so many things of every member. */
static int64_t slice_of(const struct yk_comm_group *group, size_t size)
{
    const size_t things = group->world->options.block_bytes / size / (size_t)group->members;
    return things > 0 ? (int64_t)things : 1;
}

static int64_t longest_part(const struct yk_comm_group *group, const int64_t *firsts)
{
    int64_t most = 0;
    for (int32_t i = 0; i < group->members; i++) {
        most = firsts[i + 1] - firsts[i] > most ? firsts[i + 1] - firsts[i] : most;
    }
    return most;
}

/* How much of member i's part is in the slice that begins at `at` of every part. */
static int64_t in_slice(const int64_t *firsts, int32_t i, int64_t at, int64_t slice)
{
    const int64_t left = firsts[i + 1] - firsts[i] - at;
    return left < 0 ? 0 : least(left, slice);
}

/* Where slices lie in the stage, one behind the other: the group's own list. */
static void lay_out(const struct yk_comm_group *group, const int64_t *firsts, int64_t at,
                    int64_t slice)
{
    group->firsts[0] = 0;
    for (int32_t i = 0; i < group->members; i++) {
        group->firsts[i + 1] = group->firsts[i] + in_slice(firsts, i, at, slice);
    }
}

/* The same on the thread that puts, which must leave the group's list alone. */
static int64_t before_slice(const int64_t *firsts, int32_t member, int64_t at, int64_t slice)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < member; i++) {
        sum += in_slice(firsts, i, at, slice);
    }
    return sum;
}

static void exchange_gather(const struct yk_comm_gather *op, bool staged)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t all = longest_part(group, op->firsts);
    struct yk_comm_gather inner = *op;
    inner.group = group->through;
    int64_t slice = all;
    if (staged) {
        slice = slice_of(group, op->size);
        lay_out(group, op->firsts, world->done, slice);
        inner.firsts = group->firsts;
        inner.whole = world->stage;
        inner.own = world->stage + (size_t)group->firsts[group->me] * op->size;
    }
    if (!yk_trouble_is(&world->trouble)) {
        world->through->comm->gather(&inner);
        finish(world);
    }
    advance(world, slice, all);
}

static char *at_thing(const void *memory, int64_t number, size_t size)
{
    return (char *)(uintptr_t)memory + (size_t)number * size;
}

static void stage_gather(void *user)
{
    exchange_gather(user, true);
}

static void pass_gather(void *user)
{
    exchange_gather(user, false);
}

void yk_staged_gather(const struct yk_comm_gather *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int32_t me = group->me;
    if (op->size == 0) { /* on all ranks */
        return;
    }
    if (op->size * (size_t)group->members > world->options.block_bytes) {
        yk_trouble_set(
            &world->trouble, YK_ERROR_INPUT,
            "staged: things are gathered of which the stage has no room for one of every "
            "rank");
        return;
    }
    const int64_t all = longest_part(group, op->firsts);
    const int64_t slice = slice_of(group, op->size);
    char *place = at_thing(op->whole, op->firsts[me], op->size);
    if (!is_on_device(world, op->whole)) {
        put_call(world, pass_gather, op);
        return;
    }
    for (int64_t at = 0; at < all; at += slice) {
        const int64_t mine = before_slice(op->firsts, me, at, slice);
        put_copy(world, at_thing(world->stage, mine, op->size), at_thing(op->own, at, op->size),
                 (size_t)in_slice(op->firsts, me, at, slice) * op->size);
        put_call(world, stage_gather, op);
        for (int32_t i = 0; i < group->members; i++) {
            if (i != me) {
                put_copy(world, at_thing(op->whole, op->firsts[i] + at, op->size),
                         at_thing(world->stage, before_slice(op->firsts, i, at, slice), op->size),
                         (size_t)in_slice(op->firsts, i, at, slice) * op->size);
            }
        }
    }
    if (place != op->own) {
        put_copy(world, place, op->own, (size_t)(op->firsts[me + 1] - op->firsts[me]) * op->size);
    }
}

static void exchange_scatter(const struct yk_comm_scatter *op, bool staged)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t all = longest_part(group, op->firsts);
    struct yk_comm_scatter inner = *op;
    inner.group = group->through;
    int64_t slice = all;
    if (staged) {
        slice = slice_of(group, yk_comm_width(op->type));
        lay_out(group, op->firsts, world->done, slice);
        inner.firsts = group->firsts;
        inner.whole = world->stage;
        inner.own = world->sums;
    }
    if (!yk_trouble_is(&world->trouble)) {
        world->through->comm->scatter(&inner);
        finish(world);
    }
    advance(world, slice, all);
}

static void stage_scatter(void *user)
{
    exchange_scatter(user, true);
}

static void pass_scatter(void *user)
{
    exchange_scatter(user, false);
}

void yk_staged_scatter(const struct yk_comm_scatter *op)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const size_t width = yk_comm_width(op->type);
    const int32_t me = group->me;
    const int64_t all = longest_part(group, op->firsts);
    const int64_t slice = slice_of(group, width);
    if (!is_on_device(world, op->whole)) {
        put_call(world, pass_scatter, op);
        return;
    }
    for (int64_t at = 0; at < all; at += slice) {
        for (int32_t i = 0; i < group->members; i++) {
            put_copy(world, at_thing(world->stage, before_slice(op->firsts, i, at, slice), width),
                     at_thing(op->whole, op->firsts[i] + at, width),
                     (size_t)in_slice(op->firsts, i, at, slice) * width);
        }
        const size_t mine = (size_t)in_slice(op->firsts, me, at, slice) * width;
        if (op->added) {
            put_copy(world, world->sums, at_thing(op->own, at, width), mine);
        }
        put_call(world, stage_scatter, op);
        put_copy(world, at_thing(op->own, at, width), world->sums, mine);
    }
}

/* ---- bytes ---- */

static size_t block_at(const struct yk_comm_world *world, size_t at, size_t size)
{
    const size_t block = world->options.block_bytes;
    return size - at < block ? size - at : block;
}

static void exchange_broadcast(const struct yk_comm_broadcast *op, bool staged)
{
    struct yk_comm_world *world = op->group->world;
    struct yk_comm_broadcast inner = *op;
    inner.group = op->group->through;
    if (staged) {
        inner.bytes = world->stage;
        inner.size = block_at(world, (size_t)world->done, op->size);
    }
    if (!yk_trouble_is(&world->trouble)) {
        world->through->comm->broadcast(&inner);
        finish(world);
    }
    advance(world, (int64_t)inner.size, (int64_t)op->size);
}

static void stage_broadcast(void *user)
{
    exchange_broadcast(user, true);
}

static void pass_broadcast(void *user)
{
    exchange_broadcast(user, false);
}

void yk_staged_broadcast(const struct yk_comm_broadcast *op)
{
    const struct yk_comm_world *world = op->group->world;
    if (!is_on_device(world, op->bytes)) {
        put_call(world, pass_broadcast, op);
        return;
    }
    for (size_t at = 0; at < op->size; at += world->options.block_bytes) {
        const size_t bytes = block_at(world, at, op->size);
        put_copy(world, world->stage, (char *)op->bytes + at, bytes);
        put_call(world, stage_broadcast, op);
        put_copy(world, (char *)op->bytes + at, world->stage, bytes);
    }
}

static void exchange_message(const struct yk_comm_message *op, bool is_sent, bool staged)
{
    struct yk_comm_world *world = op->world;
    struct yk_comm_message inner = *op;
    inner.world = world->through->world;
    if (staged) {
        inner.bytes = world->stage;
        inner.size = block_at(world, (size_t)world->done, op->size);
    }
    if (!yk_trouble_is(&world->trouble)) {
        if (is_sent) {
            world->through->comm->send(&inner);
        } else {
            world->through->comm->recv(&inner);
        }
        finish(world);
    }
    advance(world, (int64_t)inner.size, (int64_t)op->size);
}

static void stage_send(void *user)
{
    exchange_message(user, true, true);
}

static void pass_send(void *user)
{
    exchange_message(user, true, false);
}

static void stage_recv(void *user)
{
    exchange_message(user, false, true);
}

static void pass_recv(void *user)
{
    exchange_message(user, false, false);
}

void yk_staged_send(const struct yk_comm_message *op)
{
    const struct yk_comm_world *world = op->world;
    if (!is_on_device(world, op->bytes)) {
        put_call(world, pass_send, op);
        return;
    }
    for (size_t at = 0; at < op->size; at += world->options.block_bytes) {
        put_copy(world, world->stage, (char *)op->bytes + at, block_at(world, at, op->size));
        put_call(world, stage_send, op);
    }
}

void yk_staged_recv(const struct yk_comm_message *op)
{
    const struct yk_comm_world *world = op->world;
    if (!is_on_device(world, op->bytes)) {
        put_call(world, pass_recv, op);
        return;
    }
    for (size_t at = 0; at < op->size; at += world->options.block_bytes) {
        put_call(world, stage_recv, op);
        put_copy(world, (char *)op->bytes + at, world->stage, block_at(world, at, op->size));
    }
}
