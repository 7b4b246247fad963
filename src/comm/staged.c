#include "comm/exchange.h"
#include "comm/failure.h"

#include <stdlib.h>

enum {
    BLOCK_BYTES = 2 << 20,
    ELEMENT_BYTES = 4 << 10, /* at most, of an all_gather: a block holds one of every rank */
};

struct yk_comm_world {
    struct yk_comm_options options; /* block_bytes resolved */
    const struct yk_ranks *through;
    char *stages[2]; /* blocks of the host's memory: one is exchanged while another is copied */
    char *sums[2];   /* likewise, for the result of a reduce_scatter */
    int64_t done;    /* how far the exchange has come whose turn it is on the lane */
    bool in_flight;  /* `inner` is on the other world's lane */
    union {
        struct yk_comm_all_reduce all_reduce;
        struct yk_comm_all_gather all_gather;
        struct yk_comm_reduce_scatter reduce_scatter;
        struct yk_comm_broadcast broadcast;
        struct yk_comm_message message;
    } inner; /* what the other world is given for a block */
    struct yk_failure failure;
};

struct yk_comm_group {
    struct yk_comm_world *world;
    struct yk_comm_group *through; /* the same ranks in the other world */
    int32_t members;
    int32_t me;
    int64_t *firsts; /* (members + 1) of a round's parts in the stage */
};

/* ---- blocks ---- */

/*
 * Blocks of an exchange take turns on the lane. The call of block k finishes the exchange of block
 * k - 1 and begins that of block k, so that between two calls block k - 1 goes back to the device
 * and block k + 1 comes from it:
 *
 *     copy 0 | call 0 | copy 1 | call 1 | 0 back | copy 2 | call 2 | 1 back | … | end | n - 1 back
 *
 * The lane runs one call at a time and in order: how far the exchange has come is a number of the
 * world's, and the stage of block k is number k mod 2. Such a call may not query the device: whose
 * memory it is about is known when it is enqueued.
 */

/* What an exchange enqueues for block `number`; copies may be NULL. */
struct steps {
    void (*fetch)(const void *op, int64_t number);
    void (*exchange)(void *op);
    void (*copy_back)(const void *op, int64_t number);
};

static int64_t block_count(int64_t all, int64_t block)
{
    return (all + block - 1) / block;
}

static void enqueue_call(const struct yk_comm_world *world, void (*function)(void *user),
                         const void *op)
{
    world->options.backend->call_host(world->options.lane, function, (void *)(uintptr_t)op);
}

static void enqueue_copy(const struct yk_comm_world *world, void *to, const void *from,
                         size_t bytes)
{
    if (bytes > 0) {
        world->options.backend->copy(world->options.lane, to, from, bytes);
    }
}

static bool is_on_device(const struct yk_comm_world *world, const void *memory)
{
    const struct yk_comm_options *options = &world->options;
    return options->backend->contains && options->backend->contains(options->device, memory);
}

/* On the lane: what the other world has been given to do is done. */
static void end_inner(struct yk_comm_world *world)
{
    if (world->in_flight) {
        const yk_status status = yk_ranks_finish(world->through);
        world->in_flight = false;
        if (status != YK_OK) {
            yk_failure_set(&world->failure, status, yk_status_message());
        }
    }
}

/* On the lane: what the other world was given last is done, and it is to be given more; false after
 * a failure. */
static bool begin_inner(struct yk_comm_world *world)
{
    end_inner(world);
    world->in_flight = !yk_failure_is_set(&world->failure);
    return world->in_flight;
}

static void call_end(void *user)
{
    end_inner(user);
}

/* A block of `all` bytes or elements has begun; the next exchange begins at its own beginning. One
 * of a single block is over with its call. */
static void advance(struct yk_comm_world *world, int64_t by, int64_t all)
{
    if (by >= all) {
        end_inner(world);
    }
    world->done += by;
    if (world->done >= all) {
        world->done = 0;
    }
}

static void enqueue_blocks(struct yk_comm_world *world, const struct steps *steps, const void *op,
                           int64_t blocks)
{
    for (int64_t i = 0; i < blocks; i++) {
        if (steps->fetch) {
            steps->fetch(op, i);
        }
        enqueue_call(world, steps->exchange, op);
        if (i > 0 && steps->copy_back) {
            steps->copy_back(op, i - 1);
        }
    }
    if (blocks > 1) {
        enqueue_call(world, call_end, world);
    }
    if (blocks > 0 && steps->copy_back) {
        steps->copy_back(op, blocks - 1);
    }
}

/* What the lane calls: for blocks of the device, which pass through the stages, and for memory of
 * the host, which goes as it is. */
#define CALLS_OF(name)                                                                             \
    static void stage_##name(void *user)                                                           \
    {                                                                                              \
        exchange_##name(user, true);                                                               \
    }                                                                                              \
    static void pass_##name(void *user)                                                            \
    {                                                                                              \
        exchange_##name(user, false);                                                              \
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
    const size_t block = world->options.block_bytes;
    const size_t now = staged ? block_at(world, (size_t)world->done, op->size) : op->size;
    if (begin_inner(world)) {
        struct yk_comm_broadcast *inner = &world->inner.broadcast;
        *inner = *op;
        inner->group = op->group->through;
        inner->size = now;
        if (staged) {
            inner->bytes = world->stages[(size_t)world->done / block % 2];
        }
        world->through->comm->broadcast(inner);
    }
    advance(world, (int64_t)now, (int64_t)op->size);
}
CALLS_OF(broadcast)

/* Block `number` of some bytes of the device, to its stage or from it. */
static void fetch_bytes(const struct yk_comm_world *world, const void *bytes, size_t size,
                        int64_t number)
{
    const size_t at = (size_t)number * world->options.block_bytes;
    enqueue_copy(world, world->stages[number % 2], (const char *)bytes + at,
                 block_at(world, at, size));
}

static void copy_back_bytes(const struct yk_comm_world *world, void *bytes, size_t size,
                            int64_t number)
{
    const size_t at = (size_t)number * world->options.block_bytes;
    enqueue_copy(world, (char *)bytes + at, world->stages[number % 2], block_at(world, at, size));
}

static void fetch_broadcast(const void *user, int64_t number)
{
    const struct yk_comm_broadcast *op = user;
    fetch_bytes(op->group->world, op->bytes, op->size, number);
}

static void copy_back_broadcast(const void *user, int64_t number)
{
    const struct yk_comm_broadcast *op = user;
    copy_back_bytes(op->group->world, op->bytes, op->size, number);
}

static void staged_broadcast(const struct yk_comm_broadcast *op)
{
    static const struct steps send = {fetch_broadcast, stage_broadcast, NULL};
    static const struct steps receive = {NULL, stage_broadcast, copy_back_broadcast};
    struct yk_comm_world *world = op->group->world;
    const int64_t block = (int64_t)world->options.block_bytes;
    if (is_on_device(world, op->bytes)) {
        enqueue_blocks(world, op->group->me == op->from ? &send : &receive, op,
                       block_count((int64_t)op->size, block));
    } else {
        enqueue_call(world, pass_broadcast, op);
    }
}

static void exchange_message(const struct yk_comm_message *op, bool is_sent, bool staged)
{
    struct yk_comm_world *world = op->world;
    const size_t block = world->options.block_bytes;
    const size_t now = staged ? block_at(world, (size_t)world->done, op->size) : op->size;
    if (begin_inner(world)) {
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
    advance(world, (int64_t)now, (int64_t)op->size);
}

static void exchange_send(const struct yk_comm_message *op, bool staged)
{
    exchange_message(op, true, staged);
}
CALLS_OF(send)

static void exchange_recv(const struct yk_comm_message *op, bool staged)
{
    exchange_message(op, false, staged);
}
CALLS_OF(recv)

static void fetch_message(const void *user, int64_t number)
{
    const struct yk_comm_message *op = user;
    fetch_bytes(op->world, op->bytes, op->size, number);
}

static void copy_back_message(const void *user, int64_t number)
{
    const struct yk_comm_message *op = user;
    copy_back_bytes(op->world, op->bytes, op->size, number);
}

static void enqueue_message(const struct yk_comm_message *op, const struct steps *steps,
                            void (*pass)(void *user))
{
    const int64_t block = (int64_t)op->world->options.block_bytes;
    if (is_on_device(op->world, op->bytes)) {
        enqueue_blocks(op->world, steps, op, block_count((int64_t)op->size, block));
    } else {
        enqueue_call(op->world, pass, op);
    }
}

static void staged_send(const struct yk_comm_message *op)
{
    static const struct steps steps = {fetch_message, stage_send, NULL};
    enqueue_message(op, &steps, pass_send);
}

static void staged_recv(const struct yk_comm_message *op)
{
    static const struct steps steps = {NULL, stage_recv, copy_back_message};
    enqueue_message(op, &steps, pass_recv);
}

/* ---- sums ---- */

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t all_reduce_block(const struct yk_comm_all_reduce *op)
{
    const size_t width = yk_comm_type_bytes(op->type);
    return (int64_t)(op->group->world->options.block_bytes / width);
}

static void exchange_all_reduce(const struct yk_comm_all_reduce *op, bool staged)
{
    struct yk_comm_world *world = op->group->world;
    const int64_t block = staged ? all_reduce_block(op) : op->count;
    const int64_t now = min_of(block, op->count - world->done);
    if (begin_inner(world)) {
        struct yk_comm_all_reduce *inner = &world->inner.all_reduce;
        *inner = *op;
        inner->group = op->group->through;
        inner->count = now;
        if (staged) {
            inner->numbers = world->stages[world->done / block % 2];
        }
        world->through->comm->all_reduce(inner);
    }
    advance(world, now, op->count);
}
CALLS_OF(all_reduce)

/* The block's place on the device, and its bytes. */
static size_t find_block(const struct yk_comm_all_reduce *op, int64_t number, char **out)
{
    const size_t width = yk_comm_type_bytes(op->type);
    const int64_t block = all_reduce_block(op);
    *out = (char *)op->numbers + (size_t)(number * block) * width;
    return (size_t)min_of(block, op->count - number * block) * width;
}

static void fetch_all_reduce(const void *user, int64_t number)
{
    const struct yk_comm_all_reduce *op = user;
    const struct yk_comm_world *world = op->group->world;
    char *place = NULL;
    const size_t bytes = find_block(op, number, &place);
    enqueue_copy(world, world->stages[number % 2], place, bytes);
}

static void copy_back_all_reduce(const void *user, int64_t number)
{
    const struct yk_comm_all_reduce *op = user;
    const struct yk_comm_world *world = op->group->world;
    char *place = NULL;
    const size_t bytes = find_block(op, number, &place);
    enqueue_copy(world, place, world->stages[number % 2], bytes);
}

static void staged_all_reduce(const struct yk_comm_all_reduce *op)
{
    static const struct steps steps = {fetch_all_reduce, stage_all_reduce, copy_back_all_reduce};
    struct yk_comm_world *world = op->group->world;
    if (is_on_device(world, op->numbers)) {
        enqueue_blocks(world, &steps, op, block_count(op->count, all_reduce_block(op)));
    } else {
        enqueue_call(world, pass_all_reduce, op);
    }
}

/* ---- parts ---- */

/* Parts are exchanged a slice of each at a time, so many elements of every member. */
static int64_t slice_of(const struct yk_comm_group *group, size_t size)
{
    const size_t elements = group->world->options.block_bytes / size / (size_t)group->members;
    return elements > 0 ? (int64_t)elements : 1;
}

static int64_t longest_part(const struct yk_comm_group *group, const int64_t *firsts)
{
    int64_t longest = 0;
    for (int32_t i = 0; i < group->members; i++) {
        longest = firsts[i + 1] - firsts[i] > longest ? firsts[i + 1] - firsts[i] : longest;
    }
    return longest;
}

/* How much of member i's part is in the slice that begins at `at` of every part. */
static int64_t in_slice(const int64_t *firsts, int32_t i, int64_t at, int64_t slice)
{
    const int64_t left = firsts[i + 1] - firsts[i] - at;
    return left < 0 ? 0 : min_of(left, slice);
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

/* The same on the thread that enqueues, which must leave the group's list alone. */
static int64_t before_slice(const int64_t *firsts, int32_t member, int64_t at, int64_t slice)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < member; i++) {
        sum += in_slice(firsts, i, at, slice);
    }
    return sum;
}

static char *element_at(const void *memory, int64_t number, size_t size)
{
    return (char *)(uintptr_t)memory + (size_t)number * size;
}

static void exchange_all_gather(const struct yk_comm_all_gather *op, bool staged)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t all = longest_part(group, op->firsts);
    const int64_t slice = staged ? slice_of(group, op->size) : all;
    if (begin_inner(world)) {
        struct yk_comm_all_gather *inner = &world->inner.all_gather;
        *inner = *op;
        inner->group = group->through;
        if (staged) {
            char *stage = world->stages[world->done / slice % 2];
            lay_out(group, op->firsts, world->done, slice);
            inner->firsts = group->firsts;
            inner->whole = stage;
            inner->own = element_at(stage, group->firsts[group->me], op->size);
        }
        world->through->comm->all_gather(inner);
    }
    advance(world, slice, all);
}
CALLS_OF(all_gather)

static void fetch_all_gather(const void *user, int64_t number)
{
    const struct yk_comm_all_gather *op = user;
    const struct yk_comm_group *group = op->group;
    const int64_t slice = slice_of(group, op->size);
    const int64_t at = number * slice;
    char *stage = group->world->stages[number % 2];
    enqueue_copy(group->world,
                 element_at(stage, before_slice(op->firsts, group->me, at, slice), op->size),
                 element_at(op->own, at, op->size),
                 (size_t)in_slice(op->firsts, group->me, at, slice) * op->size);
}

static void copy_back_all_gather(const void *user, int64_t number)
{
    const struct yk_comm_all_gather *op = user;
    const struct yk_comm_group *group = op->group;
    const int64_t slice = slice_of(group, op->size);
    const int64_t at = number * slice;
    const char *stage = group->world->stages[number % 2];
    for (int32_t i = 0; i < group->members; i++) {
        if (i != group->me) {
            enqueue_copy(group->world, element_at(op->whole, op->firsts[i] + at, op->size),
                         element_at(stage, before_slice(op->firsts, i, at, slice), op->size),
                         (size_t)in_slice(op->firsts, i, at, slice) * op->size);
        }
    }
}

static void staged_all_gather(const struct yk_comm_all_gather *op)
{
    static const struct steps steps = {fetch_all_gather, stage_all_gather, copy_back_all_gather};
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int32_t me = group->me;
    if (op->size == 0) { /* on all ranks */
        return;
    }
    if (op->size * (size_t)group->members > world->options.block_bytes) {
        yk_failure_set(
            &world->failure, YK_ERROR_INPUT,
            "staged: things are gathered of which the stage has no room for one of every "
            "rank");
        return;
    }
    if (!is_on_device(world, op->whole)) {
        enqueue_call(world, pass_all_gather, op);
        return;
    }
    char *place = element_at(op->whole, op->firsts[me], op->size);
    enqueue_blocks(world, &steps, op,
                   block_count(longest_part(group, op->firsts), slice_of(group, op->size)));
    if (place != op->own) {
        enqueue_copy(world, place, op->own,
                     (size_t)(op->firsts[me + 1] - op->firsts[me]) * op->size);
    }
}

static void exchange_reduce_scatter(const struct yk_comm_reduce_scatter *op, bool staged)
{
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t all = longest_part(group, op->firsts);
    const int64_t slice = staged ? slice_of(group, yk_comm_type_bytes(op->type)) : all;
    if (begin_inner(world)) {
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
    advance(world, slice, all);
}
CALLS_OF(reduce_scatter)

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
        enqueue_copy(world, element_at(stage, before_slice(op->firsts, i, at, slice), width),
                     element_at(op->whole, op->firsts[i] + at, width),
                     (size_t)in_slice(op->firsts, i, at, slice) * width);
    }
    if (op->added) {
        enqueue_copy(world, world->sums[number % 2], element_at(op->own, at, width),
                     (size_t)in_slice(op->firsts, group->me, at, slice) * width);
    }
}

static void copy_back_reduce_scatter(const void *user, int64_t number)
{
    const struct yk_comm_reduce_scatter *op = user;
    const struct yk_comm_group *group = op->group;
    const size_t width = yk_comm_type_bytes(op->type);
    const int64_t slice = slice_of(group, width);
    const int64_t at = number * slice;
    enqueue_copy(group->world, element_at(op->own, at, width), group->world->sums[number % 2],
                 (size_t)in_slice(op->firsts, group->me, at, slice) * width);
}

static void staged_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    static const struct steps steps = {fetch_reduce_scatter, stage_reduce_scatter,
                                       copy_back_reduce_scatter};
    const struct yk_comm_group *group = op->group;
    const int64_t slice = slice_of(group, yk_comm_type_bytes(op->type));
    if (is_on_device(group->world, op->whole)) {
        enqueue_blocks(group->world, &steps, op,
                       block_count(longest_part(group, op->firsts), slice));
    } else {
        enqueue_call(group->world, pass_reduce_scatter, op);
    }
}

/* ---- the world ---- */

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

static yk_status allocate_block(const struct yk_comm_world *world, char **out)
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
    const size_t smallest = ELEMENT_BYTES * (size_t)options->through->size;
    world->options = *options;
    world->options.block_bytes = asked < smallest ? smallest : asked / 8 * 8;
    world->through = options->through;
    for (int i = 0; i < 2; i++) {
        YK_TRY_GOTO(allocate_block(world, &world->stages[i]), undo);
        YK_TRY_GOTO(allocate_block(world, &world->sums[i]), undo);
    }
    *out = world;
    return YK_OK;
undo:
    free_world(world);
    return status;
}

/* Where a rank has no memory for it, all fail: they would wait for it in the first exchange. */
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
    YK_TRY(yk_failure_check(&world->failure));
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
    YK_COMM_OPS(staged),
};
