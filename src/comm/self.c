#include "comm/host_arithmetic.h"

#include <stdlib.h>

struct yk_comm_world {
    struct yk_comm_options options;
    struct yk_first_failure failure;
};

struct yk_comm_group {
    struct yk_comm_world *world;
};

static yk_status open_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    struct yk_comm_world *world = calloc(1, sizeof *world);
    YK_TRY_ALLOCATED(world);
    world->options = *options;
    *out = world;
    return YK_OK;
}

static void close_world(struct yk_comm_world *world)
{
    free(world);
}

static void get_rank(const struct yk_comm_world *world, int32_t *rank, int32_t *size)
{
    (void)world;
    *rank = 0;
    *size = 1;
}

static void describe(const struct yk_comm_world *world, struct yk_text *out)
{
    (void)world;
    yk_text_add(out, "one rank alone");
}

static yk_status create_group(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                              struct yk_comm_group **out)
{
    if (count > 1 || (count == 1 && ranks[0] != 0)) {
        return yk_fail(YK_ERROR_INPUT, "a group of %d ranks in a run of rank 0 alone", (int)count);
    }
    struct yk_comm_group *group = NULL;
    if (count == 1) {
        group = calloc(1, sizeof *group);
        YK_TRY_ALLOCATED(group);
        group->world = world;
    }
    *out = group;
    return YK_OK;
}

static void destroy_group(struct yk_comm_group *group)
{
    free(group);
}

static void all_reduce(const struct yk_comm_all_reduce *op)
{
    (void)op;
}

static void all_gather(const struct yk_comm_all_gather *op)
{
    const struct yk_comm_options *options = &op->group->world->options;
    char *place = (char *)op->whole + op->offsets[0] * (int64_t)op->element_bytes;
    const size_t bytes = (size_t)(op->offsets[1] - op->offsets[0]) * op->element_bytes;
    if (bytes > 0 && place != op->own) {
        options->backend->copy(options->lane, place, op->own, bytes);
    }
}

static void add_doubles(void *user)
{
    const struct yk_comm_reduce_scatter *op = user;
    yk_host_arithmetic_add_arrays(
        YK_COMM_FP64, op->offsets[1] - op->offsets[0],
        yk_comm_data_type_element_pointer(YK_COMM_FP64, op->whole, op->offsets[0]), op->own);
}

/* Backends add numbers of every precision; doubles are the host's alone. */
static void add_to_own(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_options *options = &op->group->world->options;
    const struct yk_add_op add = {
        .count = op->offsets[1] - op->offsets[0],
        .from = yk_comm_data_type_element_pointer(op->type, op->whole, op->offsets[0]),
        .to = op->own,
        .type = yk_comm_data_type_to_precision(op->type),
    };
    if (op->type == YK_COMM_FP64) {
        options->backend->call_host(options->lane, add_doubles, (void *)(uintptr_t)op);
    } else {
        options->backend->add(options->lane, &add);
    }
}

static void reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    const struct yk_comm_options *options = &op->group->world->options;
    const void *part = yk_comm_data_type_element_pointer(op->type, op->whole, op->offsets[0]);
    const int64_t count = op->offsets[1] - op->offsets[0];
    if (count == 0) {
        return;
    }
    if (op->accumulate) {
        add_to_own(op);
    } else if (part != op->own) {
        options->backend->copy(options->lane, op->own, part,
                               (size_t)count * yk_comm_data_type_bytes(op->type));
    }
}

static void broadcast(const struct yk_comm_broadcast *op)
{
    (void)op;
}

static void refuse_message(const struct yk_comm_send_recv *op)
{
    yk_first_failure_set(&op->world->failure, YK_ERROR_INPUT,
                         "a message from or to another rank, in a run of one rank");
}

static yk_status check(const struct yk_comm_world *world)
{
    return yk_first_failure_check(&world->failure);
}

/* The process of this rank is the caller's to end. */
static void end_all(struct yk_comm_world *world, int code)
{
    (void)code;
    yk_first_failure_set(&world->failure, YK_ERROR_LOST, "this rank has ended the run");
}

const struct yk_comm_backend yk_comm_self = {
    .name = "self",
    YK_COMM_BACKEND_INIT_WORLD_FUNCTIONS,
    .group_create = create_group,
    .group_destroy = destroy_group,
    .all_reduce = all_reduce,
    .all_gather = all_gather,
    .reduce_scatter = reduce_scatter,
    .broadcast = broadcast,
    .send = refuse_message,
    .recv = refuse_message,
};
