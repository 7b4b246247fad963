/* Exchanges: their records stay until they have run. */
#include "fake_inside.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int narrow_sums;
static atomic_int late;

void fake_exchanges_begin(void)
{
    atomic_store(&narrow_sums, 0);
    atomic_store(&late, 0);
}

int fake_nccl_late_exchanges(void)
{
    return atomic_load(&late);
}

int fake_nccl_narrow_sums(void)
{
    return atomic_load(&narrow_sums);
}

struct record {
    union {
        struct yk_comm_all_reduce all_reduce;
        struct yk_comm_all_gather all_gather;
        struct yk_comm_reduce_scatter reduce_scatter;
        struct yk_comm_broadcast broadcast;
        struct yk_comm_send_recv message;
    } op;
    int64_t firsts[FAKE_RANKS + 1];
};

enum {
    MESSAGES = 2 * FAKE_RANKS
};

/* Messages of a group go side by side. Here they go pair by pair, in one order on all ranks. */
static _Thread_local struct {
    int depth;
    struct message {
        struct ncclComm *comm;
        struct record *record;
        int turn;
        bool is_sent;
    } messages[MESSAGES];
    int count;
} group;

static struct record *make_record(void)
{
    struct record *record = calloc(1, sizeof *record);
    assert(record);
    return record;
}

static void store_result(struct ncclComm *comm, struct record *record)
{
    yk_backend_cpu.call_host(comm->ranks->lane, free, record);
}

static bool may(struct ncclComm *comm, cudaStream_t stream, const void *one, const void *other)
{
    if (atomic_load(&comm->is_aborted)) {
        (void)atomic_fetch_add(&late, 1);
        return false;
    }
    if (!fake_is_alive(comm)) {
        return false;
    }
    if ((void *)stream != (void *)comm->ranks->lane || !fake_is(one, cudaMemoryTypeDevice) ||
        !fake_is(other, cudaMemoryTypeDevice)) {
        fake_misuse("an exchange of memory that is not the device's");
    }
    return true;
}

static size_t width_of(ncclDataType_t type)
{
    return type == ncclUint8                             ? 1
           : type == ncclFloat16 || type == ncclBfloat16 ? 2
           : type == ncclFloat32                         ? 4
                                                         : 8;
}

static enum yk_comm_data_type type_of(ncclDataType_t type)
{
    return type == ncclFloat16    ? YK_COMM_FP16
           : type == ncclBfloat16 ? YK_COMM_BF16
           : type == ncclFloat32  ? YK_COMM_FP32
                                  : YK_COMM_FP64;
}

static void note_sum(ncclDataType_t type)
{
    (void)atomic_fetch_add(&narrow_sums, type == ncclFloat16 || type == ncclBfloat16 ? 1 : 0);
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)op;
    note_sum(type);
    if (!may(comm, stream, send, recv) || send != recv) {
        return ncclInvalidUsage;
    }
    struct record *record = make_record();
    record->op.all_reduce =
        (struct yk_comm_all_reduce){comm->group, recv, (int64_t)count, type_of(type), false};
    yk_comm_threads.all_reduce(&record->op.all_reduce);
    store_result(comm, record);
    return ncclSuccess;
}

/* A scatter in which the root has all. */
ncclResult_t ncclReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)op;
    note_sum(type);
    if (!may(comm, stream, send, recv)) {
        return ncclInvalidUsage;
    }
    struct record *record = make_record();
    for (int i = 0; i <= comm->size; i++) {
        record->firsts[i] = i > root ? (int64_t)count : 0;
    }
    record->op.reduce_scatter = (struct yk_comm_reduce_scatter){.group = comm->group,
                                                                .whole = (void *)(uintptr_t)send,
                                                                .own = recv,
                                                                .offsets = record->firsts,
                                                                .type = type_of(type)};
    yk_comm_threads.reduce_scatter(&record->op.reduce_scatter);
    store_result(comm, record);
    return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)op;
    note_sum(type);
    if (!may(comm, stream, send, recv)) {
        return ncclInvalidUsage;
    }
    struct record *record = make_record();
    for (int i = 0; i <= comm->size; i++) {
        record->firsts[i] = i * (int64_t)count;
    }
    record->op.reduce_scatter = (struct yk_comm_reduce_scatter){.group = comm->group,
                                                                .whole = (void *)(uintptr_t)send,
                                                                .own = recv,
                                                                .offsets = record->firsts,
                                                                .type = type_of(type)};
    yk_comm_threads.reduce_scatter(&record->op.reduce_scatter);
    store_result(comm, record);
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    if (!may(comm, stream, send, recv)) {
        return ncclInvalidUsage;
    }
    struct record *record = make_record();
    for (int i = 0; i <= comm->size; i++) {
        record->firsts[i] = i * (int64_t)count;
    }
    record->op.all_gather =
        (struct yk_comm_all_gather){comm->group, send, recv, record->firsts, width_of(type)};
    yk_comm_threads.all_gather(&record->op.all_gather);
    store_result(comm, record);
    return ncclSuccess;
}

/* A gather in which the root has all: it need not be where it is sent from. */
ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    if (!may(comm, stream, send, recv)) {
        return ncclInvalidUsage;
    }
    struct record *record = make_record();
    for (int i = 0; i <= comm->size; i++) {
        record->firsts[i] = i > root ? (int64_t)count : 0;
    }
    record->op.all_gather =
        (struct yk_comm_all_gather){comm->group, send, recv, record->firsts, width_of(type)};
    yk_comm_threads.all_gather(&record->op.all_gather);
    store_result(comm, record);
    return ncclSuccess;
}

static struct record *make_message(const void *bytes, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm)
{
    struct record *record = make_record();
    record->op.message = (struct yk_comm_send_recv){.world = comm->ranks->world,
                                                    .bytes = (void *)(uintptr_t)bytes,
                                                    .size = count * width_of(type),
                                                    .peer = peer};
    return record;
}

static void enqueue_message(const struct message *message)
{
    if (message->is_sent) {
        yk_comm_threads.send(&message->record->op.message);
    } else {
        yk_comm_threads.recv(&message->record->op.message);
    }
    store_result(message->comm, message->record);
}

/* The turn of a message: by its pair, the message of the lower rank first. */
static int turn_of(int me, int peer, bool is_sent)
{
    const int low = me < peer ? me : peer;
    const int high = me < peer ? peer : me;
    const bool is_of_low = (me == low) == is_sent;
    return 2 * (low * FAKE_RANKS + high) + (is_of_low ? 0 : 1);
}

static ncclResult_t copy_message(const void *bytes, size_t count, ncclDataType_t type, int peer,
                                 ncclComm_t comm, bool is_sent)
{
    const struct message message = {
        .comm = comm,
        .record = make_message(bytes, count, type, peer, comm),
        .turn = turn_of(comm->me, peer, is_sent),
        .is_sent = is_sent,
    };
    if (group.depth == 0) {
        enqueue_message(&message);
    } else {
        assert(group.count < MESSAGES);
        group.messages[group.count++] = message;
    }
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    return may(comm, stream, send, send) ? copy_message(send, count, type, peer, comm, true)
                                         : ncclInvalidUsage;
}

ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return may(comm, stream, recv, recv) ? copy_message(recv, count, type, peer, comm, false)
                                         : ncclInvalidUsage;
}

ncclResult_t ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    group.depth--;
    for (int turn = 0; group.depth == 0 && turn < 2 * FAKE_RANKS * FAKE_RANKS; turn++) {
        for (int i = 0; i < group.count; i++) {
            if (group.messages[i].turn == turn) {
                enqueue_message(&group.messages[i]);
            }
        }
    }
    group.count = group.depth == 0 ? 0 : group.count;
    return ncclSuccess;
}
