/* Sums and parts: exchanges of comm/staged among the members of a group, slice by slice. */
#include "comm/staged_blocks.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- sums ---- */

static int64_t all_reduce_block(const struct yk_comm_all_reduce *op)
{
    const size_t width = yk_comm_type_bytes(op->type);
    return (int64_t)(op->group->world->options.block_bytes / width);
}

static void exchange_all_reduce(const struct yk_comm_all_reduce *op, bool staged)
{
    struct yk_comm_world *world = op->group->world;
    const int64_t block = staged ? all_reduce_block(op) : op->count;
    const int64_t now = least(block, op->count - world->done);
    if (yk_staged_begin(world)) {
        struct yk_comm_all_reduce *inner = &world->inner.all_reduce;
        *inner = *op;
        inner->group = op->group->through;
        inner->count = now;
        if (staged) {
            inner->numbers = world->stages[world->done / block % 2];
        }
        world->through->comm->all_reduce(inner);
    }
    yk_staged_advance(world, now, op->count);
}

static void stage_all_reduce(void *user)
{
    exchange_all_reduce(user, true);
}

static void pass_all_reduce(void *user)
{
    exchange_all_reduce(user, false);
}

/* The block's place on the device, and its bytes. */
static size_t find_block(const struct yk_comm_all_reduce *op, int64_t number, char **out)
{
    const size_t width = yk_comm_type_bytes(op->type);
    const int64_t block = all_reduce_block(op);
    *out = (char *)op->numbers + (size_t)(number * block) * width;
    return (size_t)least(block, op->count - number * block) * width;
}

static void fetch_all_reduce(const void *user, int64_t number)
{
    const struct yk_comm_all_reduce *op = user;
    const struct yk_comm_world *world = op->group->world;
    char *place = NULL;
    const size_t bytes = find_block(op, number, &place);
    yk_staged_enqueue_copy(world, world->stages[number % 2], place, bytes);
}

static void return_all_reduce(const void *user, int64_t number)
{
    const struct yk_comm_all_reduce *op = user;
    const struct yk_comm_world *world = op->group->world;
    char *place = NULL;
    const size_t bytes = find_block(op, number, &place);
    yk_staged_enqueue_copy(world, place, world->stages[number % 2], bytes);
}

void yk_staged_all_reduce(const struct yk_comm_all_reduce *op)
{
    static const struct yk_staged_steps steps = {fetch_all_reduce, stage_all_reduce,
                                                 return_all_reduce};
    struct yk_comm_world *world = op->group->world;
    if (yk_staged_is_on_device(world, op->numbers)) {
        yk_staged_enqueue_blocks(world, &steps, op,
                                 yk_staged_block_count(op->count, all_reduce_block(op)));
    } else {
        yk_staged_enqueue_call(world, pass_all_reduce, op);
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

static char *at_thing(const void *memory, int64_t number, size_t size)
{
    return (char *)(uintptr_t)memory + (size_t)number * size;
}

static void exchange_all_gather(const struct yk_comm_all_gather *op, bool staged)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t all = longest_part(group, op->firsts);
    const int64_t slice = staged ? slice_of(group, op->size) : all;
    if (yk_staged_begin(world)) {
        struct yk_comm_all_gather *inner = &world->inner.all_gather;
        *inner = *op;
        inner->group = group->through;
        if (staged) {
            char *stage = world->stages[world->done / slice % 2];
            lay_out(group, op->firsts, world->done, slice);
            inner->firsts = group->firsts;
            inner->whole = stage;
            inner->own = at_thing(stage, group->firsts[group->me], op->size);
        }
        world->through->comm->all_gather(inner);
    }
    yk_staged_advance(world, slice, all);
}

static void stage_all_gather(void *user)
{
    exchange_all_gather(user, true);
}

static void pass_all_gather(void *user)
{
    exchange_all_gather(user, false);
}

static void fetch_all_gather(const void *user, int64_t number)
{
    const struct yk_comm_all_gather *op = user;
    const struct yk_comm_group *group = op->group;
    const int64_t slice = slice_of(group, op->size);
    const int64_t at = number * slice;
    char *stage = group->world->stages[number % 2];
    yk_staged_enqueue_copy(
        group->world, at_thing(stage, before_slice(op->firsts, group->me, at, slice), op->size),
        at_thing(op->own, at, op->size),
        (size_t)in_slice(op->firsts, group->me, at, slice) * op->size);
}

static void return_all_gather(const void *user, int64_t number)
{
    const struct yk_comm_all_gather *op = user;
    const struct yk_comm_group *group = op->group;
    const int64_t slice = slice_of(group, op->size);
    const int64_t at = number * slice;
    const char *stage = group->world->stages[number % 2];
    for (int32_t i = 0; i < group->members; i++) {
        if (i != group->me) {
            yk_staged_enqueue_copy(
                group->world, at_thing(op->whole, op->firsts[i] + at, op->size),
                at_thing(stage, before_slice(op->firsts, i, at, slice), op->size),
                (size_t)in_slice(op->firsts, i, at, slice) * op->size);
        }
    }
}

void yk_staged_all_gather(const struct yk_comm_all_gather *op)
{
    static const struct yk_staged_steps steps = {fetch_all_gather, stage_all_gather,
                                                 return_all_gather};
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int32_t me = group->me;
    if (op->size == 0) { /* on all ranks */
        return;
    }
    if (op->size * (size_t)group->members > world->options.block_bytes) {
        yk_failure_set(
            &world->trouble, YK_ERROR_INPUT,
            "staged: things are gathered of which the stage has no room for one of every "
            "rank");
        return;
    }
    if (!yk_staged_is_on_device(world, op->whole)) {
        yk_staged_enqueue_call(world, pass_all_gather, op);
        return;
    }
    char *place = at_thing(op->whole, op->firsts[me], op->size);
    yk_staged_enqueue_blocks(
        world, &steps, op,
        yk_staged_block_count(longest_part(group, op->firsts), slice_of(group, op->size)));
    if (place != op->own) {
        yk_staged_enqueue_copy(world, place, op->own,
                               (size_t)(op->firsts[me + 1] - op->firsts[me]) * op->size);
    }
}

static void exchange_reduce_scatter(const struct yk_comm_reduce_scatter *op, bool staged)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t all = longest_part(group, op->firsts);
    const int64_t slice = staged ? slice_of(group, yk_comm_type_bytes(op->type)) : all;
    if (yk_staged_begin(world)) {
        struct yk_comm_reduce_scatter *inner = &world->inner.reduce_scatter;
        *inner = *op;
        inner->group = group->through;
        if (staged) {
            const int64_t which = world->done / slice % 2;
            lay_out(group, op->firsts, world->done, slice);
            inner->firsts = group->firsts;
            inner->whole = world->stages[which];
            inner->own = world->sums[which];
        }
        world->through->comm->reduce_scatter(inner);
    }
    yk_staged_advance(world, slice, all);
}

static void stage_reduce_scatter(void *user)
{
    exchange_reduce_scatter(user, true);
}

static void pass_reduce_scatter(void *user)
{
    exchange_reduce_scatter(user, false);
}

static void fetch_reduce_scatter(const void *user, int64_t number)
{
    const struct yk_comm_reduce_scatter *op = user;
    const struct yk_comm_group *group = op->group;
    const struct yk_comm_world *world = group->world;
    const size_t width = yk_comm_type_bytes(op->type);
    const int64_t slice = slice_of(group, width);
    const int64_t at = number * slice;
    const char *stage = world->stages[number % 2];
    for (int32_t i = 0; i < group->members; i++) {
        yk_staged_enqueue_copy(world,
                               at_thing(stage, before_slice(op->firsts, i, at, slice), width),
                               at_thing(op->whole, op->firsts[i] + at, width),
                               (size_t)in_slice(op->firsts, i, at, slice) * width);
    }
    if (op->added) {
        yk_staged_enqueue_copy(world, world->sums[number % 2], at_thing(op->own, at, width),
                               (size_t)in_slice(op->firsts, group->me, at, slice) * width);
    }
}

static void return_reduce_scatter(const void *user, int64_t number)
{
    const struct yk_comm_reduce_scatter *op = user;
    const struct yk_comm_group *group = op->group;
    const size_t width = yk_comm_type_bytes(op->type);
    const int64_t slice = slice_of(group, width);
    const int64_t at = number * slice;
    yk_staged_enqueue_copy(group->world, at_thing(op->own, at, width),
                           group->world->sums[number % 2],
                           (size_t)in_slice(op->firsts, group->me, at, slice) * width);
}

void yk_staged_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    static const struct yk_staged_steps steps = {fetch_reduce_scatter, stage_reduce_scatter,
                                                 return_reduce_scatter};
    const struct yk_comm_group *group = op->group;
    const int64_t slice = slice_of(group, yk_comm_type_bytes(op->type));
    if (yk_staged_is_on_device(group->world, op->whole)) {
        yk_staged_enqueue_blocks(group->world, &steps, op,
                                 yk_staged_block_count(longest_part(group, op->firsts), slice));
    } else {
        yk_staged_enqueue_call(group->world, pass_reduce_scatter, op);
    }
}
