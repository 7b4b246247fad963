#include "comm/host_collective.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SENTENCE_SIZE = 1024,
    PINGS = 32,          /* for each rank: the quickest tells the time */
    NUMBER = 0x7fff0000, /* of messages here: programs have lower ones */
};

yk_status yk_host_collective_all_reduce_sum(const struct yk_communicator *ranks, double *numbers,
                                            int64_t count)
{
    struct yk_comm_all_reduce op = {
        .group = ranks->world_group, .count = count, .type = YK_COMM_FP64};
    op.numbers = numbers;
    ranks->comm->all_reduce(&op);
    return yk_communicator_synchronize(ranks);
}

/* `size` bytes of every rank, in order. */
static yk_status all_gather(const struct yk_communicator *ranks, const void *own, size_t size,
                            void *whole)
{
    int64_t *firsts = calloc((size_t)ranks->size + 1, sizeof *firsts);
    YK_TRY_ALLOCATED(firsts);
    for (int32_t i = 0; i <= ranks->size; i++) {
        firsts[i] = i;
    }
    const struct yk_comm_all_gather op = {ranks->world_group, own, whole, firsts, size};
    ranks->comm->all_gather(&op);
    const yk_status status = yk_communicator_synchronize(ranks);
    free(firsts);
    return status;
}

yk_status yk_host_collective_all_reduce_max(const struct yk_communicator *ranks, double *numbers,
                                            int64_t count)
{
    const size_t size = (size_t)count * sizeof *numbers;
    double *all = calloc((size_t)ranks->size * (size_t)count + 1, sizeof *all);
    YK_TRY_ALLOCATED(all);
    const yk_status status = all_gather(ranks, numbers, size, all);
    for (int32_t i = 0; status == YK_OK && i < ranks->size; i++) {
        for (int64_t j = 0; j < count; j++) {
            const double other = all[i * count + j];
            /* What is not a number is the largest of all. */
            if (i == 0 || other > numbers[j] || isnan(other)) {
                numbers[j] = other;
            }
        }
    }
    free(all);
    return status;
}

yk_status yk_host_collective_barrier(const struct yk_communicator *ranks)
{
    double nothing = 0;
    return yk_host_collective_all_reduce_sum(ranks, &nothing, 1);
}

yk_status yk_host_collective_broadcast_bytes(const struct yk_communicator *ranks, int32_t from,
                                             void *bytes, size_t size)
{
    const struct yk_comm_broadcast op = {ranks->world_group, bytes, size, from};
    ranks->comm->broadcast(&op);
    return yk_communicator_synchronize(ranks);
}

yk_status yk_host_collective_broadcast_text(const struct yk_communicator *ranks, int32_t from,
                                            struct yk_text *text)
{
    uint64_t length = ranks->rank == from ? text->length : 0;
    YK_TRY(yk_host_collective_agree_on_status(ranks,
                                              ranks->rank == from ? yk_text_status(text) : YK_OK));
    YK_TRY(yk_host_collective_broadcast_bytes(ranks, from, &length, sizeof length));
    char *bytes = malloc((size_t)length + 1);
    yk_status status =
        yk_host_collective_agree_on_status(ranks, bytes ? YK_OK : yk_fail_out_of_memory());
    if (status != YK_OK || !bytes) {
        free(bytes);
        return status;
    }
    if (ranks->rank == from && length > 0) {
        memcpy(bytes, text->bytes, (size_t)length);
    }
    status = yk_host_collective_broadcast_bytes(ranks, from, bytes, (size_t)length);
    if (status == YK_OK && ranks->rank != from) {
        yk_text_free(text);
        *text = (struct yk_text){0};
        yk_text_add_bytes(text, bytes, (size_t)length);
        status = yk_text_status(text);
    }
    free(bytes);
    return status;
}

static yk_status allocate_bytes(const struct yk_communicator *ranks, const int64_t *sizes,
                                struct yk_arena *arena,
                                struct yk_host_collective_gathered_bytes **out)
{
    struct yk_host_collective_gathered_bytes *parts;
    YK_TRY_NEW(arena, parts, ranks->size);
    for (int32_t i = 0; i < ranks->size; i++) {
        parts[i].size = (size_t)sizes[i];
        YK_TRY_NEW(arena, parts[i].bytes, parts[i].size + 1);
    }
    *out = parts;
    return YK_OK;
}

yk_status yk_host_collective_gather_on_rank0(const struct yk_communicator *ranks, const void *bytes,
                                             size_t size, struct yk_arena *arena,
                                             struct yk_host_collective_gathered_bytes **out)
{
    struct yk_host_collective_gathered_bytes *parts = NULL;
    const int64_t own_size = (int64_t)size;
    int64_t *sizes = calloc((size_t)ranks->size, sizeof *sizes);
    yk_status status =
        sizes ? all_gather(ranks, &own_size, sizeof own_size, sizes) : yk_fail_out_of_memory();
    if (status == YK_OK && ranks->rank == 0) {
        status = allocate_bytes(ranks, sizes, arena, &parts);
    }
    free(sizes);
    YK_TRY(yk_host_collective_agree_on_status(ranks, status));
    if (!parts) { /* rank 0 alone has them */
        const struct yk_comm_send_recv op = {ranks->world, (void *)(uintptr_t)bytes, size, 0,
                                             NUMBER};
        *out = NULL;
        ranks->comm->send(&op);
        return yk_communicator_synchronize(ranks);
    }
    if (size > 0) {
        memcpy(parts[0].bytes, bytes, size);
    }
    for (int32_t i = 1; i < ranks->size; i++) { /* one after another */
        const struct yk_comm_send_recv op = {ranks->world, parts[i].bytes, parts[i].size, i,
                                             NUMBER};
        ranks->comm->recv(&op);
        YK_TRY(yk_communicator_synchronize(ranks));
    }
    *out = parts;
    return YK_OK;
}

struct verdict {
    int32_t status;
    char sentence[SENTENCE_SIZE];
};

yk_status yk_host_collective_agree_on_status(const struct yk_communicator *ranks, yk_status mine)
{
    if (yk_communicator_size(ranks) == 1) {
        return mine;
    }
    struct verdict own = {.status = (int32_t)mine};
    if (mine != YK_OK) {
        strncpy(own.sentence, yk_status_message(), sizeof own.sentence - 1);
    }
    /* With no memory to hear the others, what is wrong here is known all the same. */
    struct verdict *all = calloc((size_t)ranks->size, sizeof *all);
    YK_TRY_ALLOCATED(all);
    yk_status status = all_gather(ranks, &own, sizeof own, all);
    for (int32_t i = 0; status == YK_OK && i < ranks->size; i++) {
        if (all[i].status != YK_OK) {
            status = yk_fail((yk_status)all[i].status, "rank %d: %.*s", (int)i, SENTENCE_SIZE - 1,
                             all[i].sentence);
        }
    }
    free(all);
    return status;
}

/* The clock, read on the lane between two messages. */
static void read_clock(void *user)
{
    *(double *)user = yk_clock_now_s();
}

struct ping {
    double begun_s;
    double server_s; /* rank 0's clock in between */
    double ended_s;
};

/* Rank 0 answers `rank`'s pings with its clock; they are enqueued at once, so that only messages
 * pass in between. */
static yk_status ping_rank(const struct yk_communicator *ranks, int32_t rank,
                           struct yk_clock_offset *out)
{
    struct ping pings[PINGS] = {{0}};
    struct yk_comm_send_recv requests[PINGS];
    struct yk_comm_send_recv replies[PINGS];
    const int32_t peer = ranks->rank == 0 ? rank : 0;
    for (int i = 0; i < PINGS; i++) {
        requests[i] = (struct yk_comm_send_recv){ranks->world, &pings[i].begun_s, sizeof(double),
                                                 peer, NUMBER + 1};
        replies[i] = (struct yk_comm_send_recv){ranks->world, &pings[i].server_s, sizeof(double),
                                                peer, NUMBER + 2};
        if (ranks->rank == 0) {
            ranks->comm->recv(&requests[i]);
            ranks->backend->call_host(ranks->lane, read_clock, &pings[i].server_s);
            ranks->comm->send(&replies[i]);
        } else {
            ranks->backend->call_host(ranks->lane, read_clock, &pings[i].begun_s);
            ranks->comm->send(&requests[i]);
            ranks->comm->recv(&replies[i]);
            ranks->backend->call_host(ranks->lane, read_clock, &pings[i].ended_s);
        }
    }
    YK_TRY(yk_communicator_synchronize(ranks));
    for (int i = 0; ranks->rank != 0 && i < PINGS; i++) {
        const double error_s = (pings[i].ended_s - pings[i].begun_s) / 2;
        if (i == 0 || error_s < out->error_s) {
            out->error_s = error_s;
            out->offset_s = pings[i].server_s - pings[i].begun_s - error_s;
        }
    }
    return YK_OK;
}

yk_status yk_host_collective_estimate_clock_offset(const struct yk_communicator *ranks,
                                                   struct yk_clock_offset *out)
{
    struct yk_clock_offset clock = {0};
    for (int32_t i = 1; i < ranks->size; i++) {
        if (ranks->rank == 0 || ranks->rank == i) {
            YK_TRY(ping_rank(ranks, i, &clock));
        }
    }
    *out = clock;
    return YK_OK;
}
