/* Bytes: broadcasts and messages of comm/staged, block by block. */
#include "comm/staged_blocks.h"

static size_t block_at(const struct yk_comm_world *world, size_t at, size_t size)
{
    const size_t block = world->options.block_bytes;
    return size - at < block ? size - at : block;
}

static void exchange_broadcast(const struct yk_comm_broadcast *op, bool staged)
{
    struct yk_comm_world *world = op->group->world;
    const size_t block = world->options.block_bytes;
    const size_t now = staged ? block_at(world, (size_t)world->done, op->size) : op->size;
    if (yk_staged_begin(world)) {
        struct yk_comm_broadcast *inner = &world->inner.broadcast;
        *inner = *op;
        inner->group = op->group->through;
        inner->size = now;
        if (staged) {
            inner->bytes = world->stages[(size_t)world->done / block % 2];
        }
        world->through->comm->broadcast(inner);
    }
    yk_staged_advance(world, (int64_t)now, (int64_t)op->size);
}

static void stage_broadcast(void *user)
{
    exchange_broadcast(user, true);
}

static void pass_broadcast(void *user)
{
    exchange_broadcast(user, false);
}

/* Block `number` of some bytes of the device, to its stage or from it. */
static void fetch_bytes(const struct yk_comm_world *world, const void *bytes, size_t size,
                        int64_t number)
{
    const size_t at = (size_t)number * world->options.block_bytes;
    yk_staged_enqueue_copy(world, world->stages[number % 2], (const char *)bytes + at,
                           block_at(world, at, size));
}

static void bring_back_bytes(const struct yk_comm_world *world, void *bytes, size_t size,
                             int64_t number)
{
    const size_t at = (size_t)number * world->options.block_bytes;
    yk_staged_enqueue_copy(world, (char *)bytes + at, world->stages[number % 2],
                           block_at(world, at, size));
}

static void fetch_broadcast(const void *user, int64_t number)
{
    const struct yk_comm_broadcast *op = user;
    fetch_bytes(op->group->world, op->bytes, op->size, number);
}

static void bring_back_broadcast(const void *user, int64_t number)
{
    const struct yk_comm_broadcast *op = user;
    bring_back_bytes(op->group->world, op->bytes, op->size, number);
}

void yk_staged_broadcast(const struct yk_comm_broadcast *op)
{
    static const struct yk_staged_steps speak = {fetch_broadcast, stage_broadcast, NULL};
    static const struct yk_staged_steps listen = {NULL, stage_broadcast, bring_back_broadcast};
    struct yk_comm_world *world = op->group->world;
    const int64_t block = (int64_t)world->options.block_bytes;
    if (yk_staged_is_on_device(world, op->bytes)) {
        yk_staged_enqueue_blocks(world, op->group->me == op->from ? &speak : &listen, op,
                                 yk_staged_block_count((int64_t)op->size, block));
    } else {
        yk_staged_enqueue_call(world, pass_broadcast, op);
    }
}

static void exchange_message(const struct yk_comm_message *op, bool is_sent, bool staged)
{
    struct yk_comm_world *world = op->world;
    const size_t block = world->options.block_bytes;
    const size_t now = staged ? block_at(world, (size_t)world->done, op->size) : op->size;
    if (yk_staged_begin(world)) {
        struct yk_comm_message *inner = &world->inner.message;
        *inner = *op;
        inner->world = world->through->world;
        inner->size = now;
        if (staged) {
            inner->bytes = world->stages[(size_t)world->done / block % 2];
        }
        if (is_sent) {
            world->through->comm->send(inner);
        } else {
            world->through->comm->recv(inner);
        }
    }
    yk_staged_advance(world, (int64_t)now, (int64_t)op->size);
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

static void fetch_message(const void *user, int64_t number)
{
    const struct yk_comm_message *op = user;
    fetch_bytes(op->world, op->bytes, op->size, number);
}

static void bring_back_message(const void *user, int64_t number)
{
    const struct yk_comm_message *op = user;
    bring_back_bytes(op->world, op->bytes, op->size, number);
}

static void put_message(const struct yk_comm_message *op, const struct yk_staged_steps *steps,
                        void (*pass)(void *user))
{
    const int64_t block = (int64_t)op->world->options.block_bytes;
    if (yk_staged_is_on_device(op->world, op->bytes)) {
        yk_staged_enqueue_blocks(op->world, steps, op,
                                 yk_staged_block_count((int64_t)op->size, block));
    } else {
        yk_staged_enqueue_call(op->world, pass, op);
    }
}

void yk_staged_send(const struct yk_comm_message *op)
{
    static const struct yk_staged_steps steps = {fetch_message, stage_send, NULL};
    put_message(op, &steps, pass_send);
}

void yk_staged_recv(const struct yk_comm_message *op)
{
    static const struct yk_staged_steps steps = {NULL, stage_recv, bring_back_message};
    put_message(op, &steps, pass_recv);
}
