#include "comm/staged.h"

#include "comm/exchange.h"
#include "comm/staged_world.h"

#include <stdlib.h>

enum {
    BLOCK_BYTES = 2 << 20,
    THING_BYTES = 4 << 10, /* at most, of what is gathered: a block holds one of every rank */
};

static void free_world(struct yk_comm_world *world)
{
    if (world) {
        const struct yk_comm_options *options = &world->options;
        for (int i = 0; i < 2; i++) {
            options->backend->free_host(options->device, world->sums[i]);
            options->backend->free_host(options->device, world->stages[i]);
        }
        free(world);
    }
}

static yk_status take_block(const struct yk_comm_world *world, char **out)
{
    const struct yk_comm_options *options = &world->options;
    void *memory = NULL;
    YK_TRY(options->backend->allocate_host(options->device, options->block_bytes, &memory));
    *out = memory;
    return YK_OK;
}

static yk_status make_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    yk_status status;
    struct yk_comm_world *world = calloc(1, sizeof *world);
    if (!world) {
        return yk_fail_out_of_memory();
    }
    const size_t asked = options->block_bytes > 0 ? options->block_bytes : BLOCK_BYTES;
    const size_t least = THING_BYTES * (size_t)options->through->size;
    world->options = *options;
    world->options.block_bytes = asked < least ? least : asked / 8 * 8;
    world->through = options->through;
    for (int i = 0; i < 2; i++) {
        YK_TRY_GOTO(take_block(world, &world->stages[i]), undo);
        YK_TRY_GOTO(take_block(world, &world->sums[i]), undo);
    }
    *out = world;
    return YK_OK;
undo:
    free_world(world);
    return status;
}

/* Where a rank has no memory for it, all are told: they would wait for it in the first exchange. */
static yk_status open_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    struct yk_comm_world *world = NULL;
    if (!options->through) {
        return yk_fail(YK_ERROR_INPUT, "staged: there is no world to carry messages");
    }
    const yk_status status = yk_exchange_agree(options->through, make_world(options, &world));
    if (status != YK_OK) {
        free_world(world);
        return status;
    }
    *out = world;
    return YK_OK;
}

/* The last call of an exchange waits for the other world, unless a lane that failed left it out. */
static void finish_lanes(struct yk_comm_world *world)
{
    (void)world->options.backend->lane_synchronize(world->options.lane);
    (void)world->through->backend->lane_synchronize(world->through->lane);
}

static void close_world(struct yk_comm_world *world)
{
    if (world) {
        finish_lanes(world);
        free_world(world);
    }
}

static int32_t rank_of(const struct yk_comm_world *world)
{
    return world->through->rank;
}

static int32_t size_of(const struct yk_comm_world *world)
{
    return world->through->size;
}

static void describe(const struct yk_comm_world *world, struct yk_text *out)
{
    world->through->comm->describe(world->through->world, out);
    yk_text_add(out, ", through the memory of the host");
}

static void destroy_group(struct yk_comm_group *group)
{
    if (group) {
        finish_lanes(group->world);
        group->world->through->comm->group_destroy(group->through);
        free(group->firsts);
        free(group);
    }
}

static yk_status create_group(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out)
{
    const struct yk_ranks *through = world->through;
    struct yk_comm_group *inner = NULL;
    YK_TRY(world->options.backend->lane_synchronize(world->options.lane));
    YK_TRY(through->comm->group_create(through->world, ranks, count, &inner));
    if (!inner) {
        *out = NULL;
        return YK_OK;
    }
    struct yk_comm_group *group = calloc(1, sizeof *group);
    int64_t *firsts = calloc((size_t)count + 1, sizeof *firsts);
    if (!group || !firsts) {
        free(firsts);
        free(group);
        through->comm->group_destroy(inner);
        return yk_fail_out_of_memory();
    }
    *group = (struct yk_comm_group){
        .world = world, .through = inner, .members = count, .firsts = firsts};
    while (group->me < count && ranks[group->me] != through->rank) {
        group->me++;
    }
    *out = group;
    return YK_OK;
}

static yk_status check(const struct yk_comm_world *world)
{
    YK_TRY(yk_failure_check(&world->trouble));
    return world->through->comm->check(world->through->world);
}

static void end_all(struct yk_comm_world *world, int code)
{
    world->through->comm->abort(world->through->world, code);
}

const struct yk_comm yk_comm_staged = {
    .name = "staged",
    YK_COMM_WORLD_ENTRIES,
    .group_create = create_group,
    .group_destroy = destroy_group,
    YK_COMM_OPS(yk_staged),
};
