#include "comm/staged_blocks.h"

void yk_staged_enqueue_call(const struct yk_comm_world *world, void (*function)(void *user),
                            const void *op)
{
    world->options.backend->call_host(world->options.lane, function, (void *)(uintptr_t)op);
}

void yk_staged_enqueue_copy(const struct yk_comm_world *world, void *to, const void *from,
                            size_t bytes)
{
    if (bytes > 0) {
        world->options.backend->copy(world->options.lane, to, from, bytes);
    }
}

bool yk_staged_is_on_device(const struct yk_comm_world *world, const void *memory)
{
    const struct yk_comm_options *options = &world->options;
    return options->backend->contains && options->backend->contains(options->device, memory);
}

/* On the lane: what the other world has been given to do is done. */
static void end_inner(struct yk_comm_world *world)
{
    if (world->under_way) {
        const yk_status status = yk_ranks_finish(world->through);
        world->under_way = false;
        if (status != YK_OK) {
            yk_failure_set(&world->trouble, status, yk_status_message());
        }
    }
}

bool yk_staged_begin(struct yk_comm_world *world)
{
    end_inner(world);
    world->under_way = !yk_failure_is_set(&world->trouble);
    return world->under_way;
}

static void call_end(void *user)
{
    end_inner(user);
}

void yk_staged_advance(struct yk_comm_world *world, int64_t by, int64_t all)
{
    if (by >= all) {
        end_inner(world);
    }
    world->done += by;
    if (world->done >= all) {
        world->done = 0;
    }
}

void yk_staged_enqueue_blocks(struct yk_comm_world *world, const struct yk_staged_steps *steps,
                              const void *op, int64_t blocks)
{
    for (int64_t i = 0; i < blocks; i++) {
        if (steps->fetch) {
            steps->fetch(op, i);
        }
        yk_staged_enqueue_call(world, steps->exchange, op);
        if (i > 0 && steps->bring_back) {
            steps->bring_back(op, i - 1);
        }
    }
    if (blocks > 1) {
        yk_staged_enqueue_call(world, call_end, world);
    }
    if (blocks > 0 && steps->bring_back) {
        steps->bring_back(op, blocks - 1);
    }
}
