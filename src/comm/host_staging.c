#include "comm/host_collective.h"
#include "comm/part_offsets.h"

#include <stdlib.h>

enum {
    BLOCK_BYTES = 2 << 20,
    ELEMENT_BYTES = 4 << 10, /* at most, of an all_gather: a block holds one of every rank */
};

struct yk_comm_world {
    struct yk_comm_options options; /* block_bytes resolved */
    const struct yk_communicator *through;
    void *stages[2]; /* blocks of the host's memory: one is exchanged while another is copied */
    void *sums[2];   /* likewise, for the result of a reduce_scatter */
    int64_t done;    /* how far the exchange has come whose turn it is on the lane */
    bool in_flight;  /* `inner` is on the other world's lane */
    union {
        struct yk_comm_all_reduce all_reduce;
        struct yk_comm_all_gather all_gather;
        struct yk_comm_reduce_scatter reduce_scatter;
        struct yk_comm_broadcast broadcast;
        struct yk_comm_send_recv message;
    } inner; /* what the other world is given for a block */
    struct yk_first_failure failure;
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
 * The blocks of an op take turns on the lane. The call of block k finishes the exchange of block
 * k - 1 and begins that of block k. Between two calls, block k - 1 is copied back to the device and
 * block k + 1 is copied from it:
 *
 *     copy 0 | call 0 | copy 1 | call 1 | 0 back | copy 2 | call 2 | 1 back | … | end | n - 1 back
 *
 * The lane runs one call at a time and in order, so the progress of the current op is a member of
 * the world. Block k uses stage k mod 2. A call on the lane must not query the device; whether a
 * buffer is in device memory is found out when the op is enqueued.
 */

/* Copies block `number` between the device and its stage; each may be NULL. */
struct copies {
    void (*fetch)(const void *buffers, int64_t number);
    void (*copy_back)(const void *buffers, int64_t number);
};

static int64_t block_count(int64_t all, int64_t block)
{
    return (all + block - 1) / block;
}

static char *element_at(const void *memory, int64_t number, size_t size)
{
    return (char *)(uintptr_t)memory + (size_t)number * size;
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

/* On the lane: waits for the op of the other world. */
static void end_inner(void *user)
{
    struct yk_comm_world *world = user;
    if (world->in_flight) {
        const yk_status status = yk_communicator_synchronize(world->through);
        world->in_flight = false;
        if (status != YK_OK) {
            yk_first_failure_set(&world->failure, status, "%s", yk_status_message());
        }
    }
}

/* On the lane: waits for the last op of the other world, before the next one. False after a
 * failure. */
static bool begin_inner(struct yk_comm_world *world)
{
    end_inner(world);
    world->in_flight = !yk_first_failure_is_set(&world->failure);
    return world->in_flight;
}

/* A block of `by` of `all` elements has begun. After the last block `done` is 0 again, for the next
 * op. An op of a single block ends within its call. */
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

static void enqueue_blocks(struct yk_comm_world *world, int64_t blocks,
                           void (*exchange)(void *user), const void *op,
                           const struct copies *copies, const void *buffers)
{
    for (int64_t i = 0; i < blocks; i++) {
        if (copies->fetch) {
            copies->fetch(buffers, i);
        }
        enqueue_call(world, exchange, op);
        if (i > 0 && copies->copy_back) {
            copies->copy_back(buffers, i - 1);
        }
    }
    if (blocks > 1) {
        enqueue_call(world, end_inner, world);
    }
    if (blocks > 0 && copies->copy_back) {
        copies->copy_back(buffers, blocks - 1);
    }
}

/* Defines the functions that the lane calls: stage_NAME for blocks of device memory, which pass
 * through the stages, and pass_NAME for host memory, which is passed on directly. */
#define CALLS_OF(name)                                                                             \
    static void stage_##name(void *user)                                                           \
    {                                                                                              \
        exchange_##name(user, true);                                                               \
    }                                                                                              \
    static void pass_##name(void *user)                                                            \
    {                                                                                              \
        exchange_##name(user, false);                                                              \
    }

/* ---- ops on one contiguous buffer ---- */

struct span {
    struct yk_comm_world *world;
    void *memory;
    int64_t count; /* elements */
    size_t width;  /* bytes of an element */
};

static int64_t block_of(const struct span *span)
{
    return (int64_t)(span->world->options.block_bytes / span->width);
}

/* Block `number` in the buffer, and its bytes. */
static char *find_block(const struct span *span, int64_t number, size_t *bytes)
{
    const int64_t first = number * block_of(span);
    *bytes = (size_t)yk_number_min(block_of(span), span->count - first) * span->width;
    return element_at(span->memory, first, span->width);
}

static void fetch_span(const void *buffers, int64_t number)
{
    const struct span *span = buffers;
    size_t bytes = 0;
    const char *place = find_block(span, number, &bytes);
    enqueue_copy(span->world, span->world->stages[number % 2], place, bytes);
}

static void copy_back_span(const void *buffers, int64_t number)
{
    const struct span *span = buffers;
    size_t bytes = 0;
    char *place = find_block(span, number, &bytes);
    enqueue_copy(span->world, place, span->world->stages[number % 2], bytes);
}

static const struct copies span_out = {fetch_span, NULL};
static const struct copies span_in = {NULL, copy_back_span};
static const struct copies span_both = {fetch_span, copy_back_span};

static void enqueue_span(const struct span *span, const void *op, void (*stage)(void *user),
                         void (*pass)(void *user), const struct copies *copies)
{
    if (is_on_device(span->world, span->memory)) {
        enqueue_blocks(span->world, block_count(span->count, block_of(span)), stage, op, copies,
                       span);
    } else {
        enqueue_call(span->world, pass, op);
    }
}

/* On the lane: the next block as the other world sees it. Returns its number of elements. */
static int64_t next_block(const struct span *span, bool staged, void **memory)
{
    const struct yk_comm_world *world = span->world;
    *memory = staged ? world->stages[world->done / block_of(span) % 2] : span->memory;
    return staged ? yk_number_min(block_of(span), span->count - world->done) : span->count;
}

static struct span span_of_broadcast(const struct yk_comm_broadcast *op)
{
    return (struct span){op->group->world, op->bytes, (int64_t)op->size, 1};
}

static void exchange_broadcast(const struct yk_comm_broadcast *op, bool staged)
{
    const struct span span = span_of_broadcast(op);
    struct yk_comm_broadcast *inner = &span.world->inner.broadcast;
    void *memory = NULL;
    const int64_t now = next_block(&span, staged, &memory);
    if (begin_inner(span.world)) {
        *inner = (struct yk_comm_broadcast){op->group->through, memory, (size_t)now, op->root};
        span.world->through->comm->broadcast(inner);
    }
    advance(span.world, now, span.count);
}
CALLS_OF(broadcast)

static void staged_broadcast(const struct yk_comm_broadcast *op)
{
    const struct span span = span_of_broadcast(op);
    enqueue_span(&span, op, stage_broadcast, pass_broadcast,
                 op->group->me == op->root ? &span_out : &span_in);
}

static struct span span_of_message(const struct yk_comm_send_recv *op)
{
    return (struct span){op->world, op->bytes, (int64_t)op->size, 1};
}

static void exchange_message(const struct yk_comm_send_recv *op, bool is_sent, bool staged)
{
    const struct span span = span_of_message(op);
    const struct yk_communicator *through = span.world->through;
    struct yk_comm_send_recv *inner = &span.world->inner.message;
    void *memory = NULL;
    const int64_t now = next_block(&span, staged, &memory);
    if (begin_inner(span.world)) {
        *inner = (struct yk_comm_send_recv){through->world, memory, (size_t)now, op->peer, op->tag};
        (is_sent ? through->comm->send : through->comm->recv)(inner);
    }
    advance(span.world, now, span.count);
}

static void exchange_send(const struct yk_comm_send_recv *op, bool staged)
{
    exchange_message(op, true, staged);
}
CALLS_OF(send)

static void exchange_recv(const struct yk_comm_send_recv *op, bool staged)
{
    exchange_message(op, false, staged);
}
CALLS_OF(recv)

static void staged_send(const struct yk_comm_send_recv *op)
{
    const struct span span = span_of_message(op);
    enqueue_span(&span, op, stage_send, pass_send, &span_out);
}

static void staged_recv(const struct yk_comm_send_recv *op)
{
    const struct span span = span_of_message(op);
    enqueue_span(&span, op, stage_recv, pass_recv, &span_in);
}

static struct span span_of_all_reduce(const struct yk_comm_all_reduce *op)
{
    return (struct span){op->group->world, op->numbers, op->count,
                         yk_comm_data_type_bytes(op->type)};
}

static void exchange_all_reduce(const struct yk_comm_all_reduce *op, bool staged)
{
    const struct span span = span_of_all_reduce(op);
    struct yk_comm_all_reduce *inner = &span.world->inner.all_reduce;
    void *memory = NULL;
    const int64_t now = next_block(&span, staged, &memory);
    if (begin_inner(span.world)) {
        *inner =
            (struct yk_comm_all_reduce){op->group->through, memory, now, op->type, op->sum_in_fp32};
        span.world->through->comm->all_reduce(inner);
    }
    advance(span.world, now, span.count);
}
CALLS_OF(all_reduce)

static void staged_all_reduce(const struct yk_comm_all_reduce *op)
{
    const struct span span = span_of_all_reduce(op);
    enqueue_span(&span, op, stage_all_reduce, pass_all_reduce, &span_both);
}

/* ---- ops on one part of each member ---- */

/* The parts are exchanged in slices: `slice` elements of every member's part at a time. */
struct parts {
    const struct yk_comm_group *group;
    const int64_t *firsts;
    size_t width;    /* bytes of an element */
    int64_t slice;   /* elements */
    int64_t longest; /* elements of the longest part */
};

static struct parts parts_of(const struct yk_comm_group *group, const int64_t *firsts, size_t width)
{
    const size_t slice = group->world->options.block_bytes / width / (size_t)group->members;
    return (struct parts){group, firsts, width, slice > 0 ? (int64_t)slice : 1,
                          yk_part_offsets_max_length(firsts, group->members)};
}

/* Elements of member i's part in slice `number`. */
static int64_t in_slice(const struct parts *parts, int32_t i, int64_t number)
{
    return yk_part_offsets_block_length(parts->firsts, i, number * parts->slice, parts->slice);
}

/* Lays out slice `number` in the stage, one part behind the other: group->firsts. */
static void lay_out(const struct parts *parts, int64_t number)
{
    yk_part_offsets_make_block_offsets(parts->firsts, parts->group->members, number * parts->slice,
                                       parts->slice, parts->group->firsts);
}

/* Where `member` is in the stage of slice `number`. Unlike lay_out() it may be called by the thread
 * that enqueues, because it does not use group->firsts. */
static char *place_in_stage(const struct parts *parts, int32_t member, int64_t number)
{
    int64_t before = 0;
    for (int32_t i = 0; i < member; i++) {
        before += in_slice(parts, i, number);
    }
    return element_at(parts->group->world->stages[number % 2], before, parts->width);
}

/* Enqueues a copy of `member`'s elements of slice `number`. */
static void copy_slice(const struct parts *parts, int32_t member, int64_t number, void *to,
                       const void *from)
{
    enqueue_copy(parts->group->world, to, from,
                 (size_t)in_slice(parts, member, number) * parts->width);
}

/* Slice `number` of a part that begins at element `first` of `memory`. */
static char *slice_at(const struct parts *parts, const void *memory, int64_t first, int64_t number)
{
    return element_at(memory, first + number * parts->slice, parts->width);
}

static struct parts parts_of_all_gather(const struct yk_comm_all_gather *op)
{
    return parts_of(op->group, op->offsets, op->element_bytes);
}

static void exchange_all_gather(const struct yk_comm_all_gather *op, bool staged)
{
    const struct parts parts = parts_of_all_gather(op);
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int64_t number = world->done / parts.slice;
    if (begin_inner(world)) {
        struct yk_comm_all_gather *inner = &world->inner.all_gather;
        *inner = *op;
        inner->group = group->through;
        if (staged) {
            lay_out(&parts, number);
            inner->offsets = group->firsts;
            inner->whole = world->stages[number % 2];
            inner->own = place_in_stage(&parts, group->me, number);
        }
        world->through->comm->all_gather(inner);
    }
    advance(world, staged ? parts.slice : parts.longest, parts.longest);
}
CALLS_OF(all_gather)

static void fetch_all_gather(const void *user, int64_t number)
{
    const struct yk_comm_all_gather *op = user;
    const struct parts parts = parts_of_all_gather(op);
    const int32_t me = op->group->me;
    copy_slice(&parts, me, number, place_in_stage(&parts, me, number),
               slice_at(&parts, op->own, 0, number));
}

static void copy_back_all_gather(const void *user, int64_t number)
{
    const struct yk_comm_all_gather *op = user;
    const struct parts parts = parts_of_all_gather(op);
    for (int32_t i = 0; i < op->group->members; i++) {
        if (i != op->group->me) {
            copy_slice(&parts, i, number, slice_at(&parts, op->whole, op->offsets[i], number),
                       place_in_stage(&parts, i, number));
        }
    }
}

static void staged_all_gather(const struct yk_comm_all_gather *op)
{
    static const struct copies copies = {fetch_all_gather, copy_back_all_gather};
    const struct yk_comm_group *group = op->group;
    struct yk_comm_world *world = group->world;
    const int32_t me = group->me;
    if (op->element_bytes == 0) { /* on all ranks */
        return;
    }
    if (op->element_bytes * (size_t)group->members > world->options.block_bytes) {
        yk_first_failure_set(
            &world->failure, YK_ERROR_INPUT,
            "staged: things are gathered of which the stage has no room for one of every "
            "rank");
        return;
    }
    if (!is_on_device(world, op->whole)) {
        enqueue_call(world, pass_all_gather, op);
        return;
    }
    const struct parts parts = parts_of_all_gather(op);
    char *place = element_at(op->whole, op->offsets[me], op->element_bytes);
    enqueue_blocks(world, block_count(parts.longest, parts.slice), stage_all_gather, op, &copies,
                   op);
    if (place != op->own) {
        enqueue_copy(world, place, op->own,
                     (size_t)(op->offsets[me + 1] - op->offsets[me]) * op->element_bytes);
    }
}

static struct parts parts_of_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    return parts_of(op->group, op->offsets, yk_comm_data_type_bytes(op->type));
}

static void exchange_reduce_scatter(const struct yk_comm_reduce_scatter *op, bool staged)
{
    const struct parts parts = parts_of_reduce_scatter(op);
    struct yk_comm_world *world = op->group->world;
    const int64_t number = world->done / parts.slice;
    if (begin_inner(world)) {
        struct yk_comm_reduce_scatter *inner = &world->inner.reduce_scatter;
        *inner = *op;
        inner->group = op->group->through;
        if (staged) {
            lay_out(&parts, number);
            inner->offsets = op->group->firsts;
            inner->whole = world->stages[number % 2];
            inner->own = world->sums[number % 2];
        }
        world->through->comm->reduce_scatter(inner);
    }
    advance(world, staged ? parts.slice : parts.longest, parts.longest);
}
CALLS_OF(reduce_scatter)

static void fetch_reduce_scatter(const void *user, int64_t number)
{
    const struct yk_comm_reduce_scatter *op = user;
    const struct parts parts = parts_of_reduce_scatter(op);
    for (int32_t i = 0; i < op->group->members; i++) {
        copy_slice(&parts, i, number, place_in_stage(&parts, i, number),
                   slice_at(&parts, op->whole, op->offsets[i], number));
    }
    if (op->accumulate) {
        copy_slice(&parts, op->group->me, number, op->group->world->sums[number % 2],
                   slice_at(&parts, op->own, 0, number));
    }
}

static void copy_back_reduce_scatter(const void *user, int64_t number)
{
    const struct yk_comm_reduce_scatter *op = user;
    const struct parts parts = parts_of_reduce_scatter(op);
    copy_slice(&parts, op->group->me, number, slice_at(&parts, op->own, 0, number),
               op->group->world->sums[number % 2]);
}

static void staged_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    static const struct copies copies = {fetch_reduce_scatter, copy_back_reduce_scatter};
    const struct parts parts = parts_of_reduce_scatter(op);
    struct yk_comm_world *world = op->group->world;
    if (is_on_device(world, op->whole)) {
        enqueue_blocks(world, block_count(parts.longest, parts.slice), stage_reduce_scatter, op,
                       &copies, op);
    } else {
        enqueue_call(world, pass_reduce_scatter, op);
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

static yk_status make_world(const struct yk_comm_options *options, struct yk_comm_world **out)
{
    yk_status status;
    struct yk_comm_world *world = calloc(1, sizeof *world);
    YK_TRY_ALLOCATED(world);
    const size_t asked = options->block_bytes > 0 ? options->block_bytes : BLOCK_BYTES;
    const size_t smallest = ELEMENT_BYTES * (size_t)options->host_communicator->size;
    world->options = *options;
    world->options.block_bytes = asked < smallest ? smallest : asked / 8 * 8;
    world->through = options->host_communicator;
    for (int i = 0; i < 2; i++) {
        const size_t bytes = world->options.block_bytes;
        YK_TRY_GOTO(options->backend->allocate_host(options->device, bytes, &world->stages[i]),
                    undo);
        YK_TRY_GOTO(options->backend->allocate_host(options->device, bytes, &world->sums[i]), undo);
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
    if (!options->host_communicator) {
        return yk_fail(YK_ERROR_INPUT, "staged: there is no world to carry messages");
    }
    YK_TRY_OR_CLEAN_UP(
        yk_host_collective_agree_on_status(options->host_communicator, make_world(options, &world)),
        free_world(world));
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

static void get_rank(const struct yk_comm_world *world, int32_t *rank, int32_t *size)
{
    *rank = world->through->rank;
    *size = world->through->size;
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
    const struct yk_communicator *through = world->through;
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
    YK_TRY(yk_first_failure_check(&world->failure));
    return world->through->comm->check(world->through->world);
}

static void end_all(struct yk_comm_world *world, int code)
{
    world->through->comm->abort(world->through->world, code);
}

const struct yk_comm_backend yk_comm_host_staging = {
    .name = "staged",
    YK_COMM_BACKEND_INIT_WORLD_FUNCTIONS,
    .group_create = create_group,
    .group_destroy = destroy_group,
    YK_COMM_BACKEND_INIT_OPS(staged),
};
