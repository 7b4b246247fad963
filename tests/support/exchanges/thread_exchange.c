#include "support/exchanges/thread_world.h"

#include "comm/host_arithmetic.h"

#include <stdio.h>
#include <string.h>

enum {
    CHUNK = 256
};

/* What a member shows: the op and what kind it is, so that all can see whether they do the same. */
struct shown {
    const char *kind;
    const void *op;
    int64_t count; /* of numbers, or bytes, over all members */
    int64_t detail;
};

static void enqueue(const struct yk_comm_world *world, void (*function)(void *user), const void *op)
{
    world->options.backend->call_host(world->options.lane, function, (void *)(uintptr_t)op);
}

/* False after a failure; what members show must agree. */
static bool begin(const struct yk_comm_group *group, const struct shown *mine)
{
    struct thread_barrier *barrier = &group->circle->barrier;
    if (!thread_barrier_enter(barrier, group->me, mine)) {
        return false;
    }
    for (int32_t i = 0; i < barrier->members; i++) {
        const struct shown *other = barrier->shown[i];
        if (strcmp(other->kind, mine->kind) != 0 || other->count != mine->count ||
            other->detail != mine->detail) {
            char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
            (void)snprintf(sentence, sizeof sentence,
                           "a %s of %lld here meets a %s of %lld of rank %d: ranks differ in their "
                           "order of exchanges",
                           mine->kind, (long long)mine->count, other->kind, (long long)other->count,
                           (int)group->circle->ranks[i]);
            yk_thread_world_break(group->world->shared, group->world->rank, YK_ERROR_LOST,
                                  sentence);
            thread_barrier_leave(barrier);
            return false;
        }
    }
    return true;
}

static void end(const struct yk_comm_group *group)
{
    thread_barrier_leave(&group->circle->barrier);
}

static const void *op_of(const struct yk_comm_group *group, int32_t member)
{
    return ((const struct shown *)group->circle->barrier.shown[member])->op;
}

/* Numbers in the making of a sum: fp32, or fp64 for doubles. */
union sum {
    float singles[CHUNK];
    double doubles[CHUNK];
};

/* sum = row, or sum += row, in the members' order; what is not wide is rounded every time. */
static void add_to_sum(union sum *sum, bool first, enum yk_comm_data_type type, bool wide,
                       int64_t count, const void *row)
{
    union sum more;
    if (type == YK_COMM_FP64) {
        memcpy(more.doubles, row, (size_t)count * sizeof(double));
    } else {
        yk_host_arithmetic_convert_to_fp32(type, count, row, more.singles);
    }
    if (first) {
        *sum = more;
        return;
    }
    yk_host_arithmetic_add_arrays(type == YK_COMM_FP64 ? YK_COMM_FP64 : YK_COMM_FP32, count, &more,
                                  sum);
    if (yk_comm_data_type_is_16_bit(type) && !wide) {
        uint16_t rounded[CHUNK];
        yk_host_arithmetic_convert_from_fp32(type, count, sum->singles, rounded);
        yk_host_arithmetic_convert_to_fp32(type, count, rounded, sum->singles);
    }
}

static void give(const union sum *sum, enum yk_comm_data_type type, int64_t count, void *row)
{
    if (type == YK_COMM_FP64) {
        memcpy(row, sum->doubles, (size_t)count * sizeof(double));
    } else {
        yk_host_arithmetic_convert_from_fp32(type, count, sum->singles, row);
    }
}

/* Member i sums a part of the numbers of all and gives it to all: nobody else touches it. */
static void run_all_reduce(void *user)
{
    const struct yk_comm_all_reduce *op = user;
    const struct yk_comm_group *group = op->group;
    const struct shown mine = {"all_reduce", op, op->count,
                               (int64_t)op->type * 2 + op->sum_in_fp32};
    if (!begin(group, &mine)) {
        return;
    }
    const int32_t members = group->circle->barrier.members;
    const int64_t to = op->count * (group->me + 1) / members;
    for (int64_t at = op->count * group->me / members; at < to; at += CHUNK) {
        const int64_t now = to - at < CHUNK ? to - at : CHUNK;
        union sum sum;
        for (int32_t i = 0; i < members; i++) {
            const struct yk_comm_all_reduce *other = op_of(group, i);
            add_to_sum(&sum, i == 0, op->type, op->sum_in_fp32, now,
                       yk_comm_data_type_element_pointer(op->type, other->numbers, at));
        }
        for (int32_t i = 0; i < members; i++) {
            const struct yk_comm_all_reduce *other = op_of(group, i);
            give(&sum, op->type, now,
                 yk_comm_data_type_element_pointer(op->type, other->numbers, at));
        }
    }
    end(group);
}

static void run_all_gather(void *user)
{
    const struct yk_comm_all_gather *op = user;
    const struct yk_comm_group *group = op->group;
    const int32_t members = group->circle->barrier.members;
    const struct shown mine = {"all_gather", op, op->offsets[members] * (int64_t)op->element_bytes,
                               op->offsets[0]};
    if (!begin(group, &mine)) {
        return;
    }
    for (int32_t i = 0; i < members; i++) {
        const struct yk_comm_all_gather *other = op_of(group, i);
        char *place = (char *)op->whole + op->offsets[i] * (int64_t)op->element_bytes;
        const size_t bytes = (size_t)(op->offsets[i + 1] - op->offsets[i]) * op->element_bytes;
        if (bytes > 0 && place != other->own) {
            memcpy(place, other->own, bytes);
        }
    }
    end(group);
}

static void run_reduce_scatter(void *user)
{
    const struct yk_comm_reduce_scatter *op = user;
    const struct yk_comm_group *group = op->group;
    const int32_t members = group->circle->barrier.members;
    const struct shown mine = {"reduce_scatter", op, op->offsets[members],
                               (int64_t)op->type * 2 + op->sum_in_fp32};
    if (!begin(group, &mine)) {
        return;
    }
    const int64_t to = op->offsets[group->me + 1];
    for (int64_t at = op->offsets[group->me]; at < to; at += CHUNK) {
        const int64_t now = to - at < CHUNK ? to - at : CHUNK;
        void *own =
            yk_comm_data_type_element_pointer(op->type, op->own, at - op->offsets[group->me]);
        union sum sum;
        for (int32_t i = 0; i < members; i++) {
            const struct yk_comm_reduce_scatter *other = op_of(group, i);
            add_to_sum(&sum, i == 0, op->type, op->sum_in_fp32, now,
                       yk_comm_data_type_element_pointer(op->type, other->whole, at));
        }
        if (op->accumulate) {
            add_to_sum(&sum, false, op->type, op->sum_in_fp32, now, own);
        }
        give(&sum, op->type, now, own);
    }
    end(group);
}

static void run_broadcast(void *user)
{
    const struct yk_comm_broadcast *op = user;
    const struct yk_comm_group *group = op->group;
    const struct shown mine = {"broadcast", op, (int64_t)op->size, op->root};
    if (!begin(group, &mine)) {
        return;
    }
    const struct yk_comm_broadcast *source = op_of(group, op->root);
    if (op->size > 0 && source->bytes != op->bytes) {
        memcpy(op->bytes, source->bytes, op->size);
    }
    end(group);
}

static struct thread_mailbox *mailbox(struct yk_thread_world *world, int32_t from, int32_t to)
{
    return &world->mailboxes[from * world->ranks + to];
}

/* Holds the message out and waits until it is taken. */
static void run_send(void *user)
{
    const struct yk_comm_send_recv *op = user;
    struct yk_thread_world *world = op->world->shared;
    struct thread_floor *floor = &world->floor;
    struct thread_mailbox *box = mailbox(world, op->world->rank, op->peer);
    pthread_mutex_lock(&floor->mutex);
    if (!thread_floor_is_broken(floor, &op->peer, 1)) {
        box->offered = op;
        pthread_cond_broadcast(&floor->changed);
        while (box->offered == op && !thread_floor_is_broken(floor, &op->peer, 1)) {
            pthread_cond_wait(&floor->changed, &floor->mutex);
        }
        box->offered = NULL;
    }
    pthread_mutex_unlock(&floor->mutex);
}

/* Under the mutex throughout: the sender must not leave while its bytes are read. */
static void run_recv(void *user)
{
    const struct yk_comm_send_recv *op = user;
    struct yk_thread_world *world = op->world->shared;
    struct thread_floor *floor = &world->floor;
    struct thread_mailbox *box = mailbox(world, op->peer, op->world->rank);
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE] = "";
    pthread_mutex_lock(&floor->mutex);
    while (!box->offered && !thread_floor_is_broken(floor, &op->peer, 1)) {
        pthread_cond_wait(&floor->changed, &floor->mutex);
    }
    const struct yk_comm_send_recv *sent = box->offered;
    if (sent && !yk_first_failure_is_set(&floor->failure)) {
        if (sent->tag != op->tag || sent->size != op->size) {
            (void)snprintf(sentence, sizeof sentence,
                           "waits for message %d of %zu bytes, but rank %d sends message %d of "
                           "%zu bytes",
                           (int)op->tag, op->size, (int)op->peer, (int)sent->tag, sent->size);
        } else if (op->size > 0) {
            memcpy(op->bytes, sent->bytes, op->size);
        }
        box->offered = NULL;
        pthread_cond_broadcast(&floor->changed);
    }
    pthread_mutex_unlock(&floor->mutex);
    if (sentence[0]) {
        yk_thread_world_break(world, op->world->rank, YK_ERROR_LOST, sentence);
    }
}

void thread_all_reduce(const struct yk_comm_all_reduce *op)
{
    enqueue(op->group->world, run_all_reduce, op);
}

void thread_all_gather(const struct yk_comm_all_gather *op)
{
    enqueue(op->group->world, run_all_gather, op);
}

void thread_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    enqueue(op->group->world, run_reduce_scatter, op);
}

void thread_broadcast(const struct yk_comm_broadcast *op)
{
    enqueue(op->group->world, run_broadcast, op);
}

void thread_send(const struct yk_comm_send_recv *op)
{
    enqueue(op->world, run_send, op);
}

void thread_recv(const struct yk_comm_send_recv *op)
{
    enqueue(op->world, run_recv, op);
}
